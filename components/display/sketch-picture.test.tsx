import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { CrewProcess } from "@/server/domain/crew/crew";
import { SketchPicture } from "./sketch-picture";

test("crews with different processes have different pictures", () => {
  const pictures = CrewProcess.options.map((process) =>
    renderToStaticMarkup(
      <SketchPicture
        sketch={{ nodes: [{ x: 0, y: 0, silhouette: "crew", crew: { process, members: 4 } }], edges: [] }}
      />,
    ),
  );
  // Voters form a ring, whether several agents vote or several answers of one agent.
  expect(new Set(pictures).size).toBe(CrewProcess.options.length - 1);
});
