import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Agent, Client, Hook } from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { type Context, command } from '../command.js';
import { DAEMON_ENV, environmentWith } from '../daemon/environment.js';
import { failureLines, logLines } from '../daemon/log.js';
import { parseListeningUrl } from '../daemon/readiness.js';
import { serveArguments } from '../daemon/start.js';
import { failed, interrupted } from '../exit.js';
import {
  type Delivery,
  deliver,
  receiverPath,
  until,
  waitForExecution,
} from '../hooks/delivery.js';
import { hookSample } from '../hooks/sample.js';
import { cutToWidth, duration, formatCount, oneLine, padded } from '../text.js';

interface ProofStep {
  name: string;
  /** The observation, then lines of details. */
  said: string[];
  tookMs: number;
}

const HOOK = 'github-issues';
const EVENT = 'issues';
const WAIT_S = 20;
const RESULT_LINES = 5;
const FINAL = ['completed', 'failed', 'stopped'];

/**
 * Runs the main use case once on a fresh daemon: a signed webhook starts an agent and creates a
 * notification, and the same webhook again does nothing. Throws with the expectation that failed.
 */
async function* prove(visitor: Client): AsyncGenerator<ProofStep, void, undefined> {
  const secret = randomBytes(32).toString('base64url');
  const payload = JSON.stringify(hookSample('github/issues.opened').payload);
  const delivery = { path: receiverPath(HOOK), secret, event: EVENT, id: randomUUID(), payload };

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
  const [notified] = await timed('notice', () => checkNotice(client, agent));
  yield notified;
  const [repeated] = await timed('again', () => sendAgain(client, delivery, { ...receipt, hook }));
  yield repeated;
}

type Observation<T> = [said: string[], result: T];

const timed = async <T>(
  name: string,
  work: () => Promise<Observation<T>>,
): Promise<[ProofStep, T]> => {
  const began = performance.now();
  const [said, result] = await work();
  return [{ name, said, tookMs: performance.now() - began }, result];
};

const register = async (visitor: Client): Promise<Observation<Client>> => {
  const password = randomBytes(16).toString('base64url');
  const { user, token } = await visitor.auth.register({ body: { username: 'demo', password } });
  must(user.role === 'admin', `the first account is the admin (it is ${user.role})`);
  return [['demo, the first account, so the admin'], visitor.with({ token })];
};

const createHook = async (client: Client, secret: string): Promise<Observation<Hook>> => {
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
  return [[`${HOOK}: runs an agent and notifies its owner`], hook];
};

const send = async (
  client: Client,
  delivery: Delivery,
): Promise<Observation<{ deliveryId: string; executionId: string }>> => {
  const { status, body } = await deliver(client, delivery);
  const { deliveryId = '', executions = [] } = body;
  const [executionId = ''] = executions;
  must(status === 202 && executions.length === 1, `a signed delivery is accepted (${status})`);
  const bytes = Buffer.byteLength(delivery.payload).toLocaleString('en');
  return [[`${EVENT}.opened, ${bytes} bytes, signed: 202, on disk`], { deliveryId, executionId }];
};

/** Waits for the agent by its events, as any client does. */
const follow = async (
  client: Client,
  run: { id: string; executionId: string },
): Promise<Observation<Agent>> => {
  const agentId = await until(async () => (await client.hooks.execution(run)).agentId);
  if (agentId === null) throw failed('Demo failed. Expected: the hook spawns an agent.');
  const events = await countAgentEvents(client, agentId);
  const agent = await client.agents.get({ id: agentId });
  must(agent.status === 'completed', `the agent completes (${agent.status}: ${agent.error})`);
  must(agent.untrusted, 'an agent that a payload spawned is untrusted');
  const result = agent.result ?? '';
  must(result.includes('Login loops'), 'the digest names the issue');
  const head = `completed: ${formatCount(agent.steps, 'step')}, ${events} events, model ${agent.model}`;
  return [[head, ...firstLines(result)], agent];
};

const firstLines = (text: string): string[] => {
  const lines = text.split('\n').filter((line) => line !== '');
  const rest = lines.length - RESULT_LINES;
  return [...lines.slice(0, RESULT_LINES), ...(rest > 0 ? [`… and ${rest} more lines`] : [])];
};

const countAgentEvents = async (client: Client, id: string): Promise<number> => {
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
): Promise<Observation<void>> => {
  const { status, attempts, error } = await waitForExecution(client, run);
  must(status === 'success', `the execution succeeds (${status}: ${error})`);
  return [[`success, ${attempts} attempt`], undefined];
};

const checkNotice = async (client: Client, agent: Agent): Promise<Observation<void>> => {
  const notice = await until(async () => {
    const { notifications } = await client.notifications.list({ query: { unread: true } });
    return notifications[0] ?? null;
  });
  must(notice !== null, 'the owner is notified');
  must(
    notice.kind === 'agent_completed' && notice.body === agent.result,
    'the notification contains the result',
  );
  return [[notice.title], undefined];
};

const sendAgain = async (
  client: Client,
  delivery: Delivery,
  first: { deliveryId: string; hook: Hook },
): Promise<Observation<void>> => {
  const { status, body } = await deliver(client, delivery);
  const isSame = body.duplicate === true && body.deliveryId === first.deliveryId;
  must(status === 200 && isSame, `the same delivery is recognized as a duplicate (${status})`);
  const { executions } = await client.hooks.executions({ id: first.hook.id });
  must(executions.length === 1, `nothing runs again (${executions.length} executions)`);
  return [['the same delivery: 200, a duplicate, nothing ran'], undefined];
};

function must(holds: boolean | undefined, claim: string): asserts holds {
  if (!holds) throw failed(`Demo failed. Expected: ${claim}.`);
}

const DEADLINE_MS = 60_000;
const NAME_WIDTH = 10;
const TOOK_WIDTH = 7;
const MIN_ROOM = 40;

export const demo = command({
  name: 'demo',
  summary: 'Run a demo hook and agent in a temporary folder',
  examples: ['', '--json', '--quiet && echo it works'],
  notes: [
    'A signed GitHub delivery starts an agent and creates a notification. Sent again, ' +
      'it does nothing.',
    'No account and no model are needed. The temporary folder is deleted at the end.',
  ],
  seeAlso: 'quickstart',
  run: async (context) => {
    const { signal, forget } = createDemoSignal(context);
    const began = performance.now();
    const steps: ProofStep[] = [];
    const tell = (step: ProofStep) => {
      steps.push(step);
      if (context.out.format !== 'json') show(context, step);
    };
    try {
      await withScratchDaemon(signal, async (url) => {
        const { createClient } = await import('../../src/client/index.js');
        tell({ name: 'daemon', said: [`ready at ${url}`], tookMs: performance.now() - began });
        for await (const step of prove(createClient({ url, signal }))) tell(step);
      });
    } catch (error) {
      throw signal.aborted ? endedBy(signal) : error;
    } finally {
      forget();
    }
    if (context.out.format === 'json') return context.out.json({ steps });
    const took = duration(performance.now() - began);
    context.out.line(`Demo passed in ${took}. The temporary home was deleted.`);
  },
});

/** Signal for ^C, SIGTERM and the deadline: the daemon and its home are removed first. */
const createDemoSignal = (context: Context) => {
  const term = new AbortController();
  const abort = () => term.abort();
  process.once('SIGTERM', abort);
  const signals = [context.signal, term.signal, systemClock.deadline(DEADLINE_MS)];
  return { signal: AbortSignal.any(signals), forget: () => process.off('SIGTERM', abort) };
};

const endedBy = ({ reason }: AbortSignal): Error =>
  reason instanceof Error && reason.name === 'TimeoutError'
    ? failed(`The demo did not finish within ${DEADLINE_MS / 1000} s.`)
    : interrupted();

const show = ({ out }: Context, { name, said, tookMs }: ProofStep): void => {
  const head = `  ${padded(name, NAME_WIDTH)} ${duration(tookMs).padStart(TOOK_WIDTH)}  `;
  const room = out.isTerminal ? Math.max(MIN_ROOM, out.width - head.length) : Infinity;
  for (const [at, line] of said.map(oneLine).entries()) {
    out.line((at === 0 ? head : ' '.repeat(head.length)) + cutToWidth(line, room));
  }
};

const ENDED_WITHIN_MS = 10_000;
const KEPT_CHARACTERS = 16_384;
const SHOWN_LINES = 10;
/** Little logging and an immediate stop, because everything is deleted afterwards. */
const SETTINGS = { ADJUTANT_LOG_LEVEL: 'warn', ADJUTANT_DRAIN_SECONDS: '1' };

const withScratchDaemon = async <T>(
  signal: AbortSignal,
  work: (url: string) => Promise<T>,
): Promise<T> => {
  const home = mkdtempSync(join(tmpdir(), 'adjutant-demo-'));
  const words = [...serveArguments(home), '--host', '127.0.0.1', '--port', '0'];
  const env = environmentWith({ ...DAEMON_ENV, ...SETTINGS });
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  try {
    return await work(await waitForAddress(child, signal));
  } finally {
    await end(child, exit);
    rmSync(home, { recursive: true, force: true });
  }
};

/**
 * Returns the address that the daemon prints. Throws with its last log lines if it exits instead.
 */
const waitForAddress = async (child: ChildProcess, signal: AbortSignal): Promise<string> => {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('The daemon has no output pipes');
  let complaint = '';
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-KEPT_CHARACTERS);
  });
  const lines = createInterface({ input: stdout, signal });
  for await (const line of lines) {
    const url = parseListeningUrl(line);
    if (url !== null) {
      stdout.resume();
      return url;
    }
  }
  signal.throwIfAborted();
  const said = failureLines(logLines(complaint)).slice(-SHOWN_LINES);
  throw failed('The daemon did not start.', ...said);
};

const end = async (child: ChildProcess, exit: Promise<unknown>): Promise<void> => {
  child.kill('SIGTERM');
  const cancel = systemClock.after(ENDED_WITHIN_MS, () => child.kill('SIGKILL'));
  await exit;
  cancel();
};
