export default function NoSuchForm() {
  return (
    <main className="grid min-h-dvh place-items-center bg-stage px-6 text-center">
      <h1 className="font-serif text-4xl">Page not found</h1>
    </main>
  );
}
