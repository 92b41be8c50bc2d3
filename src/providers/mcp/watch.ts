/** The SDK would wait for a lost reply until its time limit. */
export const watchResponses =
  (fetch: typeof globalThis.fetch, broken: (error: Error) => void): typeof globalThis.fetch =>
  async (input, init) => {
    if (init?.method !== 'POST') return fetch(input, init);
    const response = await fetch(input, init).catch((error: Error) => {
      // Delayed, so that the caller gets this error and not the end of the session.
      setImmediate(broken, error);
      throw error;
    });
    const { status, headers, body } = response;
    return body ? new Response(watchedBody(body, broken), { status, headers }) : response;
  };

const watchedBody = (
  body: ReadableStream<Uint8Array>,
  broken: (error: Error) => void,
): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  let isWanted = true;
  return new ReadableStream<Uint8Array>({
    pull: async (sink) => {
      try {
        const { value, done } = await reader.read();
        // After a cancel, the stream is already closed.
        if (!isWanted) return;
        if (done) sink.close();
        else sink.enqueue(value);
      } catch (error) {
        broken(error instanceof Error ? error : new Error(String(error)));
        sink.error(error);
      }
    },
    cancel: (reason) => {
      isWanted = false;
      return reader.cancel(reason);
    },
  });
};
