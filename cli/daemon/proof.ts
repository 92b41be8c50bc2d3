import { randomBytes, randomUUID } from 'node:crypto';
import type { Agent, Client, Hook } from '../../src/client/index.js';
import { failed } from '../exit.js';
import { type Delivery, deliver, receiverOf } from '../hooks/delivery.js';
import { hookSample } from '../hooks/samples.js';
import { outcomeOf, until } from './outcome.js';

/** One thing that was shown to hold. */
export interface ProofStep {
  name: string;
  /** The observation; further lines are details. */
  said: string[];
  tookMs: number;
}

const HOOK = 'github-issues';
const EVENT = 'issues';
const WAIT_S = 20;
const SHOWN_LINES = 5;
const FINAL = ['completed', 'failed', 'stopped'];

/**
 * The main job, once, on a daemon that nobody has used: a signed webhook becomes a finished agent
 * run and a notice, and the same webhook again becomes nothing. Failed: names what does not hold.
 */
export async function* prove(visitor: Client): AsyncGenerator<ProofStep, void, undefined> {
  const secret = randomBytes(32).toString('base64url');
  const payload = JSON.stringify(hookSample('github/issues.opened').payload);
  const delivery = { path: receiverOf(HOOK), secret, event: EVENT, id: randomUUID(), payload };

  const [registered, client] = await timed('account', () => register(visitor));
  yield registered;
  const [created, hook] = await timed('hook', () => createHook(client, secret));
  yield created;
  const [accepted, receipt] = await timed('delivery', () => send(client, delivery));
  yield accepted;
  const run = { id: hook.id, executionId: receipt.executionId };
  const [finished, agent] = await timed('agent', () => follow(client, run));
  yield finished;
  const [succeeded] = await timed('execution', () => checkExecution(client, run));
  yield succeeded;
  const [told] = await timed('notice', () => checkNotice(client, agent));
  yield told;
  const [repeated] = await timed('again', () => sendAgain(client, delivery, { ...receipt, hook }));
  yield repeated;
}

/** The observation, and what the next step needs. */
type Seen<T> = [said: string[], result: T];

const timed = async <T>(name: string, work: () => Promise<Seen<T>>): Promise<[ProofStep, T]> => {
  const began = performance.now();
  const [said, result] = await work();
  return [{ name, said, tookMs: performance.now() - began }, result];
};

const register = async (visitor: Client): Promise<Seen<Client>> => {
  const password = randomBytes(16).toString('base64url');
  const { user, token } = await visitor.auth.register({ body: { username: 'demo', password } });
  must(user.role === 'admin', `the first account is the admin (it is ${user.role})`);
  return [['demo, the first one, so the admin'], visitor.with({ token })];
};

const createHook = async (client: Client, secret: string): Promise<Seen<Hook>> => {
  const hook = await client.hooks.create({
    body: {
      name: HOOK,
      trigger: 'webhook',
      triggerConfig: { webhookPath: HOOK, webhookSecret: secret },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Triage this issue.', notifyOwner: true },
    },
  });
  must(
    hook.enabled && hook.triggerConfig.webhookSecretSet,
    'a new hook is enabled, with its secret',
  );
  return [[`${HOOK}: runs an agent, tells its owner`], hook];
};

const send = async (
  client: Client,
  delivery: Delivery,
): Promise<Seen<{ deliveryId: string; executionId: string }>> => {
  const { status, body } = await deliver(client, delivery);
  const { deliveryId = '', executions = [] } = body;
  const [executionId = ''] = executions;
  must(status === 202 && executions.length === 1, `a signed delivery is accepted (${status})`);
  const bytes = Buffer.byteLength(delivery.payload).toLocaleString('en');
  return [[`${EVENT}.opened, ${bytes} bytes, signed: 202, on disk`], { deliveryId, executionId }];
};

/** Waits for the agent by its own events, as anybody would who follows it. */
const follow = async (
  client: Client,
  run: { id: string; executionId: string },
): Promise<Seen<Agent>> => {
  const agentId = await until(async () => (await client.hooks.execution(run)).agentId);
  if (agentId === null) throw failed('Not proved: the hook spawns an agent.');
  const events = await eventsOf(client, agentId);
  const agent = await client.agents.get({ id: agentId });
  must(agent.status === 'completed', `the agent completes (${agent.status}: ${agent.error})`);
  must(agent.untrusted, 'an agent that a payload spawned is untrusted');
  const result = agent.result ?? '';
  must(result.includes('Login loops'), 'the digest names the issue');
  const steps = agent.steps === 1 ? '1 step' : `${agent.steps} steps`;
  const head = `completed: ${steps}, ${events} events, model ${agent.model}`;
  return [[head, ...firstLines(result)], agent];
};

const firstLines = (text: string): string[] => {
  const lines = text.split('\n').filter((line) => line !== '');
  const rest = lines.length - SHOWN_LINES;
  return [...lines.slice(0, SHOWN_LINES), ...(rest > 0 ? [`… and ${rest} more lines`] : [])];
};

/** Counts the events until the one that says it is over. */
const eventsOf = async (client: Client, id: string): Promise<number> => {
  for (let after = 0; ; ) {
    const page = await client.agents.events({ id, query: { after, wait: WAIT_S } });
    must(page.events.length > 0 && !page.gap, `the agent's events arrive in ${WAIT_S} s`);
    after = page.events.at(-1)?.id ?? after;
    const isOver = page.events.some(
      ({ type, data }) => type === 'agent.status' && FINAL.includes(String(data.status)),
    );
    if (isOver) return after;
  }
};

const checkExecution = async (
  client: Client,
  run: { id: string; executionId: string },
): Promise<Seen<void>> => {
  const { status, attempts, error } = await outcomeOf(client, run);
  must(status === 'success', `the execution succeeds (${status}: ${error})`);
  return [[`success, ${attempts} attempt`], undefined];
};

const checkNotice = async (client: Client, agent: Agent): Promise<Seen<void>> => {
  const notice = await until(async () => {
    const { notifications } = await client.notifications.list({ query: { unread: true } });
    return notifications[0] ?? null;
  });
  must(notice !== null, 'the owner is told');
  must(
    notice.kind === 'agent_completed' && notice.body === agent.result,
    'the notice is the result',
  );
  return [[notice.title], undefined];
};

const sendAgain = async (
  client: Client,
  delivery: Delivery,
  first: { deliveryId: string; hook: Hook },
): Promise<Seen<void>> => {
  const { status, body } = await deliver(client, delivery);
  const isSame = body.duplicate === true && body.deliveryId === first.deliveryId;
  must(status === 200 && isSame, `the same delivery is known as a duplicate (${status})`);
  const { executions } = await client.hooks.executions({ id: first.hook.id });
  must(executions.length === 1, `nothing runs again (${executions.length} executions)`);
  return [['the same delivery: 200, a duplicate, nothing ran'], undefined];
};

function must(holds: boolean | undefined, claim: string): asserts holds {
  if (!holds) throw failed(`Not proved: ${claim}.`);
}
