export function CrewsPage() {
  return null;
}
