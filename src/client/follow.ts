import type { agents, TextDelta } from '../agents/contract.js';
import type { Static } from '../kernel/contract/schema.js';
import type { Client } from './client.js';
import { isTextDelta } from './replytext.js';
import type { LiveNote } from './socket.js';

export type FollowedAgentEvent = Static<typeof agents.events.reply>['events'][number];

/** In order: each event once, and the missing ones. */
export type AgentNote =
  | { type: 'event'; event: FollowedAgentEvent }
  | { type: 'delta'; delta: TextDelta }
  /** The daemon had already dropped these events. */
  | { type: 'gap'; from: number; to: number }
  | { type: 'lost'; reason: string }
  | { type: 'back'; caughtUp: number; missing: number };

export interface FollowOptions {
  client: Client;
  stream: AsyncIterable<LiveNote>;
  agentId: string;
  after: number;
}

/** Merges polled and live events by number. */
export async function* followAgent(of: FollowOptions): AsyncGenerator<AgentNote, void, undefined> {
  let last = of.after;
  let wasLost = false;
  for await (const note of of.stream) {
    if (note.type === 'lost') {
      wasLost = true;
      yield note;
      continue;
    }
    if (note.type === 'event') {
      const event = note.data;
      if (isTextDelta(event)) {
        if (event.agentId === of.agentId) yield { type: 'delta', delta: event };
        continue;
      }
      if (!isEvent(event) || event.agentId !== of.agentId || event.id <= last) continue;
      if (event.id === last + 1) {
        last = event.id;
        yield { type: 'event', event };
        continue;
      }
    }
    const missed = await missedBy(of, last);
    if (wasLost) yield { type: 'back', ...countNotes(missed) };
    wasLost = false;
    yield* missed;
    last = missed.reduce((id, each) => (each.type === 'event' ? each.event.id : id), last);
  }
}

const missedBy = async (
  { client, agentId }: FollowOptions,
  after: number,
): Promise<AgentNote[]> => {
  const notes: AgentNote[] = [];
  for (let last = after; ; ) {
    const page = await client.agents.events({ id: agentId, query: { after: last } });
    const [first] = page.events;
    if (page.gap && first) notes.push({ type: 'gap', from: last + 1, to: first.id - 1 });
    for (const event of page.events) notes.push({ type: 'event', event });
    const end = page.events.at(-1)?.id ?? last;
    if (!first || end >= page.lastId) return notes;
    last = end;
  }
};

const countNotes = (notes: AgentNote[]): { caughtUp: number; missing: number } => ({
  caughtUp: notes.filter(({ type }) => type === 'event').length,
  missing: notes.reduce(
    (sum, note) => sum + (note.type === 'gap' ? note.to - note.from + 1 : 0),
    0,
  ),
});

const isEvent = (data: unknown): data is FollowedAgentEvent =>
  typeof data === 'object' && data !== null && 'agentId' in data && 'id' in data;
