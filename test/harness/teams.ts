import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { openTarget } from './target.js';
import { cardFault } from './teamsrules.js';

/** Example of Microsoft's sample of an outgoing webhook. */
export const SECURITY_TOKEN = 'vqF0En+Z0ucuRTM/01o2GuhMH3hKKk/N2bOmlM31zaA=';
export const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47';
export const ADA = { id: 'c5d6a1d3-aaaa-4ecf-bb8a-0f1d2ffa5d91', name: 'Ada Lovelace' };

/** Workflow that posts what it receives. */
export const openWorkflow = async () => {
  const target = await openTarget();
  const posted: Record<string, unknown>[] = [];
  const refusals: ((response: ServerResponse) => void)[] = [];
  target.answer = (response, nth) => {
    const refusal = refusals.shift();
    if (refusal) return refusal(response);
    const { body = '' } = target.received[nth - 1] ?? {};
    // Teams counts a message in UTF-16.
    if (2 * body.length > 28 * 1024) return void response.writeHead(413).end();
    const message = JSON.parse(body);
    const fault = cardFault(message);
    if (fault !== null) return void response.writeHead(400).end(fault);
    posted.push(message);
    response.writeHead(202, { 'x-ms-workflow-run-id': `run${posted.length}` }).end();
  };
  return {
    url: `${target.url}/workflows/f1/triggers/manual/paths/invoke?sig=s3cret`,
    address: target.address,
    posted,
    /** Next replies, one each. */
    refuse: (...next: ((response: ServerResponse) => void)[]) => void refusals.push(...next),
    close: target.close,
  };
};

/** Signed message to the webhook in a channel. `text` is HTML, as written by Teams. */
export const said = (
  text: string,
  at: number,
  { id = '1485983408511', token = SECURITY_TOKEN, ...more }: Record<string, unknown> = {},
) => {
  const body = JSON.stringify({
    type: 'message',
    id,
    timestamp: new Date(at).toISOString(),
    serviceUrl: 'https://smba.trafficmanager.net/amer/',
    channelId: 'msteams',
    from: {
      id: '29:1XJKJMvc5GBtc2JwZq0oj8tHZmzrQgFmB39ATiQWA85gQ',
      name: ADA.name,
      aadObjectId: ADA.id,
    },
    conversation: {
      isGroup: true,
      id: '19:253b1f341670408fb6fe51050b6e5ceb@thread.skype;messageid=1485983194839',
      conversationType: 'channel',
      tenantId: TENANT,
    },
    textFormat: 'plain',
    text: `<at>Adjutant</at> ${text}\n`,
    channelData: { tenant: { id: TENANT } },
    ...more,
  });
  return { headers: signed(body, String(token)), body };
};

export const signed = (body: string, token: string) => ({
  'content-type': 'application/json',
  authorization: `HMAC ${createHmac('sha256', Buffer.from(token, 'base64')).update(body).digest('base64')}`,
});

const TEXT = /"TextRun","text":("(?:[^"\\]|\\.)*")/g;

/** Lines of a card that Teams would show. */
export const linesOf = (message: unknown): string[] =>
  JSON.stringify(message)
    .split('"RichTextBlock"')
    .slice(1)
    .map((block) => [...block.matchAll(TEXT)].map(([, text]) => JSON.parse(text ?? '""')).join(''));
