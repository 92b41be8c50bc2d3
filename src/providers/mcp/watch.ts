/**
 * A fetch that tells when a POST gets no answer, or half of one: the answer to a call was in it,
 * which the SDK would wait for until its time is up.
 */
export const watched =
  (fetch: typeof globalThis.fetch, broken: (error: Error) => void): typeof globalThis.fetch =>
  async (input, init) => {
    if (init?.method !== 'POST') return fetch(input, init);
    const response = await fetch(input, init).catch((error: Error) => {
      // Later: the one who asked is to hear this error, and not that the session is over.
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
        // Who wants no more has an open read ended, and a stream that is closed already.
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
