import { Client } from 'undici';
import type { Ask } from './requests.js';

/** One keep-alive connection of an ordinary HTTP client, as senders of webhooks use one. */
export const openClient = (url: string) => {
  const client = new Client(url, { pipelining: 1 });
  return {
    ask: async ({ method, path, headers, body }: Ask): Promise<number> => {
      const reply = await client.request({ method, path, headers, body: body || null });
      await reply.body.text();
      return reply.statusCode;
    },
    close: () => {
      void client.destroy();
    },
  };
};
