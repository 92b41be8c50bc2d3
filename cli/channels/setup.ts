import type { Client, PlatformReply } from '../../src/client/index.js';
import { command, on } from '../command.js';
import type { Context } from '../context.js';
import { Exit, failed, usageFault } from '../exit.js';
import { oneLine, wrapped } from '../text.js';
import { findPlatform, platformTableColumns } from './columns.js';
import { fieldFlags } from './fields.js';
import { slackManifest } from './manifest.js';
import { asked } from './questions.js';

const LOCAL = /^http:|^https:\/\/(127\.|localhost\b|\[::1\])/;

/** `channels setup`: what the platform needs, step by step, until it works. */
export const setup = command({
  name: 'setup',
  args: '<kind>',
  summary: 'Set up a chat platform step by step: ask for what it needs, store it, try it (admin)',
  examples: [
    'slack',
    'slack --manifest > adjutant-slack.json',
    'telegram --bot-token-file ./token',
    'mattermost --base-url https://chat.example.org --bot-token-file ./token --command-tokens-file -',
    'webhook',
  ],
  flags: { ...fieldFlags, manifest: on('Slack: print the manifest of the app alone') },
  notes: [
    'On a terminal it asks for what no flag has said; secrets are not echoed.',
    'Without one it works by its flags; secrets come from files or stdin.',
    'Exit code 1: all is stored, but the platform refuses it, or does not know where to send.',
  ],
  seeAlso: 'adjutant platforms, adjutant channels link',
  run: async (context, { args, flags }) => {
    if (args.kind === 'webhook') return tellOfWebhooks(context);
    if (args.kind === 'email') {
      throw failed('E-mail is no channel yet.', 'Those that are: adjutant channels setup --help');
    }
    const { manifest, ...rest } = flags;
    const client = await context.client();
    const platform = await findPlatform(client, args.kind);
    if (manifest) return showManifest(context, platform);
    tellSteps(context, platform);
    const body = await asked(context, platform, rest);
    const stored = body ? await client.platforms.update({ kind: platform.kind, body }) : platform;
    context.out.done(`Stored what ${platform.kind} needs.`, stored, platformTableColumns);
    if (await tried(context, client, stored)) tellHowToLink(context, stored);
  },
});

const tellOfWebhooks = ({ out }: Context): void => {
  out.note('A webhook channel is an address of your own; nothing is to be set up for it.');
  out.note('Make one:   adjutant channels create https://example.org/from-adjutant > secret.txt');
  out.note('Then say the code that was sent there:   adjutant channels verify <channel> <code>');
};

const showManifest = ({ out }: Context, { kind, receiver }: PlatformReply): void => {
  if (kind !== 'slack') throw usageFault('Only Slack makes an app from a manifest.');
  const manifest = slackManifest(receiver);
  if (out.format === 'json') out.json(manifest);
  else out.line(JSON.stringify(manifest, null, 2));
};

const tellSteps = ({ out }: Context, { kind, setup: steps, receiver }: PlatformReply): void => {
  const tell = (text: string, indent = 0): void => {
    const lines = out.isTerminal ? wrapped(oneLine(text), out.width - indent) : [oneLine(text)];
    const [first = '', ...rest] = lines;
    out.note([first, ...rest.map((line) => ' '.repeat(indent) + line)].join('\n'));
  };
  if (LOCAL.test(receiver)) {
    const publish = 'put a reverse proxy with TLS there and set ADJUTANT_PUBLIC_URL';
    tell(`Only this machine reaches ${receiver}. For others ${publish}; sending works without.`);
  }
  for (const [at, step] of steps.entries()) tell(`${at + 1}. ${step}`, 3);
  if (kind === 'slack') {
    tell('All of that at once, from a manifest: adjutant channels setup slack --manifest');
    tell('Then Install App, and Retry at Event Subscriptions once the secret is set here.');
  }
};

/** Tests what is stored at the platform, and registers our address there where it can. */
const tried = async (
  context: Context,
  client: Client,
  { kind }: PlatformReply,
): Promise<boolean> => {
  const { out } = context;
  const checked = await client.platforms.test({ kind });
  if (!checked.ok) {
    context.exitCode = Exit.failed;
    out.warn(`${kind} refuses: ${oneLine(checked.error ?? '')}`);
    out.warn(`Mend it: adjutant channels setup ${kind}   Try it: adjutant platforms test ${kind}`);
    return false;
  }
  out.note(`${kind} works: ${oneLine(checked.account ?? '')}`);
  return kind !== 'telegram' || installed(context, client, kind);
};

/** Without it we send there and hear nothing. */
const installed = async (context: Context, client: Client, kind: string): Promise<boolean> => {
  const told = await client.platforms.install({ kind });
  if (told.ok) return true;
  context.exitCode = Exit.failed;
  context.out.warn(`${kind} does not know yet where to send: ${oneLine(told.error ?? '')}`);
  context.out.warn(`Then: adjutant platforms install ${kind}`);
  return false;
};

const tellHowToLink = ({ out }: Context, { kind }: PlatformReply): void => {
  out.note('Now each of you links their own chat:');
  // What Teams answers is read by the whole team, so it shows no code.
  if (kind === 'teams') {
    out.note('  adjutant channels link          then say there: @Adjutant /link <code>');
    return;
  }
  out.note(`  adjutant channels link          then say in ${kind}: /link <code>`);
  out.note('  or say /link there first, then:  adjutant channels link <code>');
};
