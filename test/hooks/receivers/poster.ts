import { request } from 'node:http';
import { parentPort } from 'node:worker_threads';

/** Requests that are sent at once, with one body in memory that threads share. */
export interface Posts {
  body: Uint8Array;
  to: { url: string; headers: Record<string, string> }[];
}

const send = (url: string, headers: Record<string, string>, body: Uint8Array) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, { method: 'POST', headers })
      .on('response', (reply) => resolve(reply.resume().statusCode))
      .on('error', reject)
      .end(body);
  });

/** A client in a thread of its own, so that it does not hold up the event loop that is watched. */
parentPort?.on('message', async ({ to, body }: Posts) => {
  const statuses = await Promise.all(to.map(({ url, headers }) => send(url, headers, body)));
  parentPort?.postMessage(statuses);
});
