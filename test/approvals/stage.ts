import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Config } from '../../src/config.js';
import { type Agent, call, FINISHED, type Stage, startStage } from '../agents/stage.js';
import { type FrozenClock, frozenClock, type Reply, until, untilMatches } from '../harness/app.js';
import { type Reply as Script, says } from '../harness/openai.js';

export interface Approval {
  id: string;
  agentId: string | null;
  tool: string;
  action: string;
  arguments: Record<string, unknown>;
  digest: string;
  reason: string;
  untrusted: boolean;
  status: string;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
  decidedBy: string | null;
  decisionReason: string | null;
  orgId: string | null;
  scopes: string[];
  details: { name: string; value: string }[];
}

/** Somebody out there who writes down every request, and never should get one. */
export const startCanary = async () => {
  const heard: { method: string; url: string; body: string }[] = [];
  let page = 'nothing here';
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { method = '', url = '' } = request;
    if (url.startsWith('/page')) return response.end(page);
    heard.push({ method, url, body });
    response.end('thanks');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    heard,
    url: `http://127.0.0.1:${port}/`,
    /** What it serves under `/page`. */
    serve: (text: string) => {
      page = text;
    },
    stop: () => server.close(),
  };
};

/** The stage of agents, with a clock that stands still and a service to call. */
export interface Desk extends Stage {
  clock: FrozenClock;
  canary: Awaited<ReturnType<typeof startCanary>>;
  /** A call with an effect: a POST to the canary. */
  post(body?: string, id?: string): ReturnType<typeof call>;
  /** An agent that asks for those calls at once and then says `Done.`; waiting. */
  asking(...calls: ReturnType<typeof call>[]): Promise<Agent>;
  approvals(status?: string): Promise<Approval[]>;
  answer(approvalId: string, approved: boolean, more?: object): Promise<Reply>;
  /** Denies what waits, until every agent has ended: the script is for the next test then. */
  clear(): Promise<void>;
  /** What the model was told of its calls. */
  told(): string[];
}

export const DONE: Script = says({ text: 'Done.' });

export const openDesk = async (config: Partial<Config> = {}, home?: string): Promise<Desk> => {
  const clock = frozenClock();
  const canary = await startCanary();
  const stage = await startStage({ egressAllow: ['127.0.0.1'], ...config }, clock, home);
  const post: Desk['post'] = (body = 'hello', id = 'post') =>
    call('http_request', { method: 'POST', url: canary.url, body }, id);
  const approvals: Desk['approvals'] = async (status = '') => {
    const query = status === '' ? '' : `?status=${status}`;
    return (await stage.ask('GET', `/api/chat/approvals${query}`)).body.approvals;
  };
  const answer: Desk['answer'] = (approvalId, approved, more = {}) =>
    stage.ask('POST', '/api/chat/approve', { approvalId, approved, ...more });
  const stop = stage.stop;
  return Object.assign(stage, {
    clock,
    canary,
    post,
    asking: async (...calls: ReturnType<typeof call>[]) => {
      stage.model.script(says({ toolCalls: calls.length > 0 ? calls : [post()] }), DONE);
      const { id } = await stage.spawn({ prompt: 'Do it' });
      return stage.reaches(id, 'waiting_approval');
    },
    approvals,
    answer,
    clear: async () => {
      await until(
        async () => {
          for (const { id } of await approvals('pending')) await answer(id, false);
          return (await stage.ask('GET', '/api/agents?limit=200')).body.agents;
        },
        (agents) => agents.every(({ status }: Agent) => FINISHED.includes(status)),
      );
    },
    told: () =>
      (stage.model.asked.at(-1)?.body.messages ?? [])
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => String(content)),
    stop: async () => {
      await stop();
      canary.stop();
    },
  });
};

/** The one approval that waits. */
export const theOne = async (desk: Desk): Promise<Approval> => {
  const [one] = await untilMatches(() => desk.approvals('pending'), { length: 1 });
  if (!one) throw new Error('None');
  return one;
};
