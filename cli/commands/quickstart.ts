import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { ApiError } from '../../src/client/errors.js';
import type { Client } from '../../src/client/index.js';
import { readSession } from '../../src/client/session.js';
import { Context, command, textFlag } from '../command.js';
import { isLocalUrl, resolveHome, shortPath } from '../daemon/environment.js';
import { curlLine, fireHello, firstHook, helloSecretFile } from '../daemon/firsthook.js';
import { checkReadiness, startCommandFor } from '../daemon/readiness.js';
import { type CliFault, failed, nullIfRefused } from '../exit.js';
import { chooseFirstModel, modelOffers, suggestModels } from '../models/first.js';
import { duration, oneLine } from '../text.js';
import { reachNotes } from '../tunnel/reach.js';
import { setupTunnel } from '../tunnel/setup.js';
import { login, register } from './auth.js';
import { offerToCloseRegistration } from './closeregistration.js';
import { startAndReport } from './up.js';

const NAME_WIDTH = 10;
const STEPS = ['Daemon', 'Account', 'Model', 'First hook', 'Reachable'] as const;

interface QuickstartFlags {
  username?: string;
  passwordFile?: string;
  setupCodeFile?: string;
}

export const quickstart = command({
  name: 'quickstart',
  summary: 'Set up an account and a first hook',
  examples: [
    '',
    '--yes --username ada --password-file ./password',
    '--yes --username ada --password-file - < ./password',
  ],
  flags: {
    username: textFlag('<name>', 'Name of the account. If not set, the command asks for the name'),
    passwordFile: textFlag(
      '<file|->',
      'File with the password of the account. If not set, the command asks for the password',
    ),
    setupCodeFile: textFlag(
      '<file|->',
      'File with the setup code. The daemon creates <home>/setup-code',
    ),
  },
  notes: [
    'The first account needs a setup code if other machines can reach the daemon.',
    'Each step does only what is missing, so the command can be repeated.',
    'Without a terminal, the command starts a daemon only with --yes.',
    'On a terminal, the command offers a language model if there is none: from Ollama, a tool ' +
      'that is logged in, an API key, or a model that fits this machine.',
    'After the first account, the command offers to require an invite for each new account. ' +
      'Programs that register by name and password then need an invite, too.',
    'With --yes, the command asks only for a name and a password, and uses the default of each question.',
  ],
  seeAlso: 'hooks create, doctor',
  run: async (input, { flags }) => {
    const context = await daemon(input);
    await account(context, flags);
    await model(context);
    const hook = await hello(context);
    await reachable(context);
    finish(context, hook.id);
  },
});

const daemon = async (context: Context): Promise<Context> => {
  const { is } = await checkReadiness(context.url);
  if (is === 'ready') {
    step(context, 'Daemon', `running at ${context.url}`);
    return context;
  }
  if (is !== 'silent') throw notUsable(context.url, is);
  step(context, 'Daemon', `none at ${context.url}`);
  await mayStart(context);
  const { url } = await within(context, (inner) => startAndReport(inner, listeningAt(context.url)));
  const { streams, flags, at } = context;
  return new Context(streams, { ...flags, server: url ?? context.url }, at);
};

const notUsable = (url: string, is: 'not_ready' | 'otherProgram'): CliFault =>
  is === 'otherProgram'
    ? failed(`A program other than Adjutant replies at ${url}.`, 'Find out which: adjutant doctor')
    : failed(`The daemon at ${url} is not ready.`, 'Find out why: adjutant status');

/** A daemon may be started only on this machine, and only after a yes. */
const mayStart = async ({ url, flags, ask }: Context): Promise<void> => {
  if (!url.startsWith('http:') || !isLocalUrl(url)) {
    throw failed(`The daemon at ${url} does not reply.`, 'Start it on its machine: adjutant up');
  }
  if (flags.yes) return;
  if (!ask.isPossible) {
    throw failed(
      `No daemon is running at ${url}.`,
      `Start it: ${startCommandFor(url, flags.home)}, or add --yes to this command`,
    );
  }
  const isWanted = await ask.agree({ ask: 'Start one now?', instead: '--yes' }, true);
  if (!isWanted)
    throw failed(
      'The daemon was not started. Nothing was done.',
      'To continue later: adjutant quickstart',
    );
};

/** Flags of `serve` that differ from its defaults. */
const listeningAt = (url: string): string[] => {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return [...(host === '127.0.0.1' ? [] : ['--host', host]), '--port', port || '80'];
};

const account = async (context: Context, flags: QuickstartFlags): Promise<void> => {
  const { username, passwordFile, setupCodeFile } = flags;
  const known = await whoIs(context);
  if (known !== null) return step(context, 'Account', `logged in as ${known}`);
  step(context, 'Account', 'not logged in; the first account becomes the admin');
  const kept = readSession(context.url)?.username;
  const name = username ?? kept ?? (await context.ask.text({ ask: 'Name', instead: '--username' }));
  const input = { args: { name }, flags: { passwordFile, setupCodeFile }, fields: {} };
  const enter = (by: typeof login | typeof register): Promise<void> =>
    within(context, async (inner) => by.run(inner, input));
  if (kept === name) return enter(login);
  // A daemon with a setup code does not allow registration by name and password.
  const file = join(resolveHome(context.flags.home), 'setup-code');
  const isClosed = setupCodeFile !== undefined || existsSync(file);
  try {
    await enter(register);
    const isFirst = await isAdmin(await context.client());
    if (isFirst && !isClosed) await within(context, offerToCloseRegistration);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'username_taken') throw error;
    context.out.note(`A user named ${oneLine(name)} already exists. Log in.`);
    await enter(login);
  }
};

/** Runs a step that is itself a command. In a pipe, its stdout is dropped. */
const within = async <T>(context: Context, act: (inner: Context) => Promise<T>): Promise<T> => {
  const { streams, flags, at, out } = context;
  if (out.format === 'table') return act(context);
  const inner = new Context({ ...streams, stdout: new PassThrough().resume() }, flags, at);
  try {
    return await act(inner);
  } finally {
    inner.close();
  }
};

/** Returns null if nobody is logged in or the login session has ended. */
const whoIs = async (context: Context): Promise<string | null> => {
  if (context.token === undefined) return null;
  const me = await nullIfRefused([401], (await context.client()).auth.me());
  return me?.username ?? null;
};

const model = async (context: Context): Promise<void> => {
  const { parts } = await (await context.client()).health.detailed();
  const names = parts.find(({ name }) => name === 'models')?.detail.split(', ') ?? [];
  const models = names.filter((name) => name !== '' && name !== 'digest');
  if (models.length > 0) return step(context, 'Model', oneLine(models.join(', ')));
  const client = await context.client();
  const offers = await modelOffers(client);
  const found =
    offers.length === 0 ? '' : `, found: ${offers.map(({ label }) => label).join(', ')}`;
  step(context, 'Model', `none yet: the built-in digest replies, no language model${found}`);
  if (context.ask.isPossible && (await isAdmin(client))) return chooseFirstModel(context, offers);
  suggestModels(context);
};

/** Only admins register models and set up tunnels. */
const isAdmin = async (client: Client): Promise<boolean> =>
  (await client.auth.me()).role === 'admin';

const hello = async (context: Context) => {
  const client = await context.client();
  const { hook, isNew } = await firstHook(client);
  const did = isNew ? 'created' : 'already there';
  step(context, 'First hook', `"${hook.name}", ${did}: turns a signed webhook into a notification`);
  const tookMs = await fireHello(client, hook);
  context.out.note(`    Sent it a signed test: 202, execution success in ${duration(tookMs)}`);
  return hook;
};

const reachable = async (context: Context): Promise<void> => {
  const client = await context.client();
  const found = await client.tunnel.address();
  const { address } = found;
  if (address !== null) {
    step(context, 'Reachable', `at ${oneLine(address)}`);
    for (const line of reachNotes(found)) context.out.note(`    ${line}`);
    return;
  }
  if (!isLocalUrl(context.url)) return step(context, 'Reachable', `at ${context.url}`);
  step(context, 'Reachable', 'only from this machine. Webhook senders need a public address.');
  const { ask } = context;
  const mayAsk = ask.isPossible && !context.flags.yes && (await isAdmin(client));
  const isWanted =
    mayAsk && (await ask.agree({ ask: '    Set one up now?', instead: '--no-input' }, false));
  if (isWanted) await setupTunnel.run(context, { args: {}, flags: {}, fields: {} });
  else context.out.note('    Set up a public address: adjutant tunnel setup');
};

const finish = ({ out, url }: Context, hookId: string): void => {
  const file = helloSecretFile();
  const line = curlLine(url);
  if (out.format === 'json') {
    out.json({ url, hookId, secretFile: file, command: line });
    return;
  }
  out.note(`Done. Try it yourself. The secret is read from ${shortPath(file)} (0600):`);
  out.note('');
  out.line(line);
  out.note('');
  out.note('Notifications:    adjutant notifications list');
  out.note('A real hook:      adjutant hooks create        The desk: adjutant tui');
  out.note(`In a browser:     ${url}/`);
};

const step = ({ out }: Context, name: (typeof STEPS)[number], state: string): void =>
  out.note(`${STEPS.indexOf(name) + 1}/${STEPS.length} ${name.padEnd(NAME_WIDTH)} ${state}`);
