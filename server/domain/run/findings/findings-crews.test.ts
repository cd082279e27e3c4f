import { describe, expect, test } from "vitest";
import { containing } from "@/server/domain/testing/containing";
import type { NewEvent, Payloads } from "../events";
import { findingsOf } from ".";
import {
  by,
  crew,
  done,
  event,
  failed,
  finished,
  log,
  modelReply,
  places,
  post,
  task,
  tool,
} from "./testing";

describe("ping-pong without work", () => {
  const handed = (from: string, to: string) =>
    event("handed_off", { from, to, reason: "so", count: 1 }, by(from));
  const [there, back] = [handed("writer", "chief_editor"), handed("chief_editor", "writer")];

  test("ping-pong is found at the fourth handoff between the same two agents", () => {
    expect(findingsOf(log(there, back, there, back, there, back, there, back))).toMatchObject([
      { kind: "ping_pong", seq: 5, agent_id: "chief_editor", said: containing("4 times") },
    ]);
  });

  const words = (count: number) => Array.from({ length: count }, () => "well").join(" ");
  test("ping-pong is found at the fourth short message between the same two agents", () => {
    const [hello, thanks] = [post("writer", "editor", words(12)), post("editor", "writer", ` ${words(12)} `)];
    expect(findingsOf(log(hello, thanks, hello, thanks))).toMatchObject([
      {
        kind: "ping_pong",
        seq: 5,
        agent_id: "editor",
        said: containing("short messages without doing anything in between"),
      },
    ]);
  });

  const [hello, thanks] = [post("writer", "editor", "Hello!"), post("editor", "writer", "Thank you.")];
  const long = post("writer", "editor", words(13));
  const judged = post("writer", "editor", "Fine.", { outcome: "approved" });
  const file = event("artifact_created", { artifact_id: "f", path: "f", version: 1, size: 1, kind: "file" });
  test.each<[string, NewEvent[], [string, number][]]>([
    ["three times", [there, back, there], []],
    ["in one direction only", [there, there, there, there, there], []],
    [
      "with a third agent in between",
      [there, handed("chief_editor", "judge"), handed("judge", "writer"), there],
      [],
    ],
    [
      "with replies from another agent",
      [hello, post("judge", "writer", "Thanks."), hello, thanks, hello],
      [],
    ],
    ["with a tool call in between", [there, back, ...tool("writer", "look"), there, back], []],
    ["with a file written in between", [there, back, file, there, back], []],
    ["with a task completed in between", [there, back, task("completed"), there, back], []],
    [
      "with a board entry in between",
      [there, back, ...tool("writer", "board_write"), there, back],
      [["ping_pong", 7]],
    ],
    [
      "with a model reply in between",
      [there, back, modelReply("writer", "Well."), there, back],
      [["ping_pong", 6]],
    ],
    ["with work before and after", [file, there, back, there, back, file], [["ping_pong", 6]]],
    ["with a long first message", [long, thanks, hello, thanks, hello], [["ping_pong", 6]]],
    ["with a long message in the middle", [hello, thanks, long, thanks, hello], []],
    ["with a verdict among the messages", [hello, thanks, judged, thanks, hello], []],
    ["with work between the first messages", [hello, file, thanks, hello, thanks, hello], [["ping_pong", 7]]],
    [
      "with handoffs and messages interleaved",
      [there, hello, back, thanks, there, hello, back, thanks],
      [
        ["ping_pong", 8],
        ["ping_pong", 9],
      ],
    ],
  ])("exchanges between two agents are checked for ping-pong: %s", (_how, events, found) => {
    expect(places(...events)).toEqual(found);
  });
});

describe("feedback without effect", () => {
  const sentBack = (outcome: string) => post("editor", "writer", "Shorter, please.", { outcome });
  const again = [
    {
      kind: "feedback_unread",
      seq: 5,
      agent_id: "writer",
      said: containing("editor sent the work back, and writer gave the same answer again"),
    },
  ];

  test.each(["reject", "rejected", "revise", "changes_requested", "fail", "failed"])(
    "work that was sent back as %s and resubmitted unchanged is found",
    (outcome) => {
      const events = log(
        crew,
        modelReply("writer", "A draft."),
        sentBack(outcome),
        modelReply("writer", " a DRAFT."),
        done,
      );
      expect(findingsOf(events)).toMatchObject(again);
    },
  );

  test("feedback for an agent that gets no other turn is found once the crew has completed", () => {
    const feedback = post("editor", "chief_writer", "Shorter, please.", { kind: "feedback" });
    expect(findingsOf(log(crew, modelReply("chief_writer", "A draft."), feedback, done))).toMatchObject([
      { kind: "feedback_unread", seq: 4, agent_id: "editor", said: containing("no turn") },
    ]);
  });

  const draft = modelReply("writer", "A draft.");
  test.each<[string, NewEvent[], [string, number][]]>([
    [
      "for the person who asked",
      [crew, draft, post("editor", "USER", "No.", { outcome: "reject" }), done],
      [],
    ],
    ["in a crew that failed", [crew, draft, sentBack("reject"), failed], []],
    ["in a crew that is still running", [crew, draft, sentBack("reject")], []],
    [
      "in a crew that completed on a second try",
      [crew, draft, sentBack("reject"), failed, done],
      [["feedback_unread", 4]],
    ],
    ["that approves the work", [crew, draft, sentBack("approved"), done], []],
    [
      "to which another agent replies with the same text",
      [crew, draft, sentBack("fail"), modelReply("editor", "A draft."), done],
      [["feedback_unread", 4]],
    ],
    ["that comes before any work", [crew, sentBack("fail"), draft, draft, done], []],
    [
      "on work that is empty both times",
      [crew, modelReply("writer", " "), sentBack("fail"), modelReply("writer", ""), done],
      [],
    ],
    [
      "for the last of two drafts",
      [crew, draft, modelReply("writer", "B"), sentBack("fail"), modelReply("writer", "b"), draft, done],
      [["feedback_unread", 6]],
    ],
    [
      "after which an older draft is returned",
      [crew, draft, modelReply("writer", "B"), sentBack("fail"), draft, done],
      [],
    ],
  ])("checks feedback %s", (_how, events, found) => {
    expect(places(...events)).toEqual(found);
  });
});

describe("unanswered questions", () => {
  const asked = (title: string) =>
    event("interaction_requested", {
      interaction_id: "q",
      kind: "question",
      title,
      why: "so",
      fingerprint: "f",
      expires_at: 9,
    });
  const answer = (answer: Payloads["interaction_answered"]["answer"], interaction_id = "q") =>
    event("interaction_answered", { interaction_id, answer, by: "ann" });

  test("a question that a person did not answer is found with its title if that is known", () => {
    expect(
      findingsOf(log(asked("Send the  letter?"), answer("expired"), answer("expired", "lost"))),
    ).toMatchObject(
      [[3, "Send the letter?"] as const, [4, "A question"] as const].map(([seq, title]) => ({
        kind: "question_unanswered",
        seq,
        said: containing(title),
      })),
    );
    expect(places(asked("Send the letter?"), answer("reject"), finished())).toEqual([]);
  });

  const question = post("writer", "chief_editor", "Which title?", { kind: "question" });
  test("a question that a member did not answer is found with both members once the run has ended", () => {
    expect(findingsOf(log(crew, question))).toEqual([]);
    expect(findingsOf(log(crew, question, finished()))).toMatchObject([
      {
        kind: "question_unanswered",
        seq: 3,
        agent_id: "writer",
        said: containing("chief editor “Which title?”"),
      },
    ]);
  });

  test.each<[string, NewEvent[], [string, number][]]>([
    ["is answered", [question, post("chief_editor", "writer", "This one.")], []],
    [
      "was answered before it was asked",
      [post("chief_editor", "writer", "This one."), question],
      [["question_unanswered", 3]],
    ],
    [
      "another member answers",
      [question, post("judge", "writer", "This one.")],
      [["question_unanswered", 2]],
    ],
    [
      "is answered to another member",
      [question, post("chief_editor", "judge", "This one.")],
      [["question_unanswered", 2]],
    ],
    ["is for the person who asked", [post("writer", "User", "Which title?", { kind: "question" })], []],
    ["is an ordinary message", [post("writer", "chief_editor", "A title.")], []],
  ])("checks a question that %s", (_how, events, found) => {
    expect(places(...events, finished())).toEqual(found);
  });
});
