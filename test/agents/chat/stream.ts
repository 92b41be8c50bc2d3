import type { Reply } from '../../harness/app.js';

export interface Told {
  id?: string;
  event: string;
  data: Reply['body'];
}

/** A request that asks for events, read frame by frame. */
export const openStream = async (
  url: string,
  { token, body, lastEventId }: { token: string; body?: object; lastEventId?: string },
) => {
  const away = new AbortController();
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    signal: away.signal,
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const frames = framesOf(response);
  const next = async (): Promise<Told | undefined> => (await frames.next()).value ?? undefined;
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    next,
    /** All that comes up to an event of that name, itself included; to the end without one. */
    until: async (event?: string): Promise<Told[]> => {
      const told: Told[] = [];
      for (let one = await next(); one; one = await next()) {
        told.push(one);
        if (one.event === event) break;
      }
      return told;
    },
    leave: () => away.abort(),
  };
};

async function* framesOf(response: Response): AsyncGenerator<Told> {
  let text = '';
  for await (const piece of response.body ?? []) {
    text += new TextDecoder().decode(piece);
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) if (!frame.startsWith(':')) yield toldBy(frame);
  }
}

const toldBy = (frame: string): Told => {
  const fields = Object.fromEntries(
    frame
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(' ') + 1)]),
  );
  return {
    ...(fields.id !== undefined && { id: fields.id }),
    event: fields.event ?? '',
    data: JSON.parse(fields.data ?? 'null'),
  };
};
