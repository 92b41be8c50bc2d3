import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/client.js';
import { type AgentNote, followAgent } from '../../src/client/follow.js';
import type { LiveNote } from '../../src/client/socket.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const agentId = 'agent_1';
const event = (id: number) => ({
  id,
  type: 'agent.status',
  agentId,
  data: { status: 'running' },
  at: '2026-03-01T12:00:00.000Z',
});
const live = (id: number, of = agentId): LiveNote => ({
  type: 'event',
  channel: 'agent.status',
  data: { ...event(id), agentId: of },
});
const connected: LiveNote = { type: 'connected' };
const lost: LiveNote = { type: 'lost', reason: 'connection refused' };

/** `12` for an event, and what else was told, in short. */
const short = (note: AgentNote): string => {
  if (note.type === 'event') return String(note.event.id);
  if (note.type === 'gap') return `gap ${note.from}-${note.to}`;
  return note.type === 'back' ? `back ${note.caughtUp} ${note.missing}` : note.type;
};

describe('followAgent', () => {
  let server: Listening;
  afterEach(() => server.close());

  /** A daemon whose ring holds the events of that moment, and what follows from the stream. */
  const followed = async (of: { ring: number[][]; stream: LiveNote[]; after?: number }) => {
    const rings = [...of.ring];
    server = await listen((request, response) => {
      const ring = (rings.length > 1 ? rings.shift() : rings[0]) ?? [];
      const after = Number(new URL(request.url ?? '', 'http://x').searchParams.get('after'));
      const events = ring.filter((id) => id > after).slice(0, 3);
      const [oldestId = 0] = ring;
      const page = { lastId: ring.at(-1) ?? 0, oldestId, gap: after + 1 < oldestId };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ events: events.map(event), ...page }));
    });
    const client = createClient({ url: server.origin });
    const stream = (async function* () {
      yield* of.stream;
    })();
    const told: string[] = [];
    const notes = followAgent({ client, stream, agentId, after: of.after ?? 0 });
    for await (const note of notes) told.push(short(note));
    return told;
  };

  it('polls what was there, in pages, and goes on live', async () => {
    const told = await followed({ ring: [[1, 2, 3, 4]], stream: [connected, live(5), live(6)] });
    expect(told).to.equal(['1', '2', '3', '4', '5', '6']);
  });

  it('tells each event once, though it comes both ways', async () => {
    const told = await followed({ ring: [[1, 2]], stream: [connected, live(1), live(2), live(3)] });
    expect(told).to.equal(['1', '2', '3']);
  });

  it('begins after the number that it was given', async () => {
    const told = await followed({ ring: [[1, 2, 3]], stream: [connected], after: 2 });
    expect(told).to.equal(['3']);
  });

  it('leaves out the events of other agents', async () => {
    const told = await followed({ ring: [[1]], stream: [connected, live(2, 'agent_2'), live(2)] });
    expect(told).to.equal(['1', '2']);
  });

  it('passes on the words of its agent as they come, and reads nothing for them', async () => {
    const words = (id: string): LiveNote => ({
      type: 'event',
      channel: 'agent.delta',
      data: { agentId: id, step: 1, from: 0, text: 'One' },
    });
    const stream = [connected, words(agentId), words('agent_2'), live(2), words(agentId)];
    expect(await followed({ ring: [[1]], stream })).to.equal(['1', 'delta', '2', 'delta']);
  });

  it('says what the ring had dropped', async () => {
    const told = await followed({ ring: [[5, 6]], stream: [connected] });
    expect(told).to.equal(['gap 1-4', '5', '6']);
  });

  it('catches up after a lost connection, and says how much', async () => {
    const told = await followed({
      ring: [[1], [1, 2, 3]],
      stream: [connected, lost, connected, live(4)],
    });
    expect(told).to.equal(['1', 'lost', 'back 2 0', '2', '3', '4']);
  });

  it('says after a lost connection how many are missing', async () => {
    const told = await followed({ ring: [[1], [4, 5]], stream: [connected, lost, connected] });
    expect(told).to.equal(['1', 'lost', 'back 2 2', 'gap 2-3', '4', '5']);
  });

  it('polls where a live event jumps ahead', async () => {
    const told = await followed({ ring: [[1], [1, 2, 3, 4]], stream: [connected, live(4)] });
    expect(told).to.equal(['1', '2', '3', '4']);
  });
});
