import { type Client, contracts, type PlatformReply, type Reply } from '../../src/client/index.js';
import {
  fieldFlags,
  findPlatform,
  missingSettings,
  platformTableColumns,
  readPlatformFields,
  valuesToStore,
} from '../channels/platform.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command, switchFlag, textFlag } from '../command.js';
import { Exit, usageFault } from '../exit.js';
import { requestCommand } from '../request.js';
import { oneLine, wrapped } from '../text.js';

const SCOPES = ['chat:write', 'im:history', 'app_mentions:read', 'files:read', 'commands'];

/** Slack app manifest (api.slack.com/reference/manifests). */
const slackManifest = (receiver: string): object => {
  const slash = (command: string, description: string, usage_hint: string) => ({
    command,
    description,
    usage_hint,
    url: receiver,
    should_escape: false,
  });
  return {
    display_information: { name: 'Adjutant', description: 'Chat with your agents' },
    features: {
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: 'Adjutant', always_online: true },
      slash_commands: [
        slash('/link', 'Link this chat to your account', '[code]'),
        slash('/adjutant', 'Send a message to your agents', '[words]'),
      ],
    },
    oauth_config: { scopes: { bot: SCOPES } },
    settings: {
      event_subscriptions: { request_url: receiver, bot_events: ['message.im', 'app_mention'] },
      interactivity: { is_enabled: true, request_url: receiver },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  };
};

const LOCAL = /^http:|^https:\/\/(127\.|localhost\b|\[::1\])/;

export const setup = command({
  name: 'setup',
  args: '<kind>',
  summary: 'Set up a chat platform (admin)',
  examples: [
    'slack',
    'slack --manifest > adjutant-slack.json',
    'telegram --bot-token-file ./token',
    'mattermost --base-url https://chat.example.org --bot-token-file ./token --command-tokens-file -',
    'ntfy --base-url https://ntfy.example.org --access-token-file ./token',
    'email --host smtp.example.org --from news@example.org --username news --password-file ./password',
    'webhook',
  ],
  flags: { ...fieldFlags, manifest: switchFlag('Slack: print only the manifest of the app') },
  notes: [
    'On a terminal, the command asks for values without a flag. Secrets are not echoed.',
    'Without a terminal, pass flags. Secrets come from files or stdin.',
    'Exit code 1: the settings are stored, but the platform rejects them or lacks the ' +
      'receiver address.',
  ],
  seeAlso: 'adjutant platforms, adjutant channels link',
  run: async (context, { args, flags }) => {
    if (args.kind === 'webhook') return explainWebhooks(context);
    const { manifest, ...rest } = flags;
    const client = await context.client();
    const platform = await findPlatform(client, args.kind);
    if (manifest) return showManifest(context, platform);
    printSteps(context, platform);
    const body = await valuesToStore(context, platform, rest);
    const stored = body ? await client.platforms.update({ kind: platform.kind, body }) : platform;
    context.out.done(`Stored the settings of ${platform.kind}.`, stored, platformTableColumns);
    if (await testPlatform(context, client, stored)) explainLinking(context, stored);
  },
});

const explainWebhooks = ({ out }: Context): void => {
  out.note('A webhook channel is a URL of your own. It needs no setup.');
  out.note(
    'Create one:   adjutant channels create https://example.org/from-adjutant > ' + 'secret.txt',
  );
  out.note('Then enter the code that was sent there:   adjutant channels verify <channel> <code>');
};

const showManifest = ({ out }: Context, { kind, receiver }: PlatformReply): void => {
  if (kind !== 'slack') throw usageFault('Only Slack supports app manifests. Remove --manifest.');
  const manifest = slackManifest(receiver ?? '');
  if (out.format === 'json') out.json(manifest);
  else out.line(JSON.stringify(manifest, null, 2));
};

const printSteps = ({ out }: Context, { kind, setup: steps, receiver }: PlatformReply): void => {
  const tell = (text: string, indent = 0): void => {
    const lines = out.isTerminal ? wrapped(oneLine(text), out.width - indent) : [oneLine(text)];
    const [first = '', ...rest] = lines;
    out.note([first, ...rest.map((line) => ' '.repeat(indent) + line)].join('\n'));
  };
  if (receiver !== null && LOCAL.test(receiver)) {
    const publish = 'set up a reverse proxy with TLS and set ADJUTANT_PUBLIC_URL';
    tell(
      `Only this machine can reach ${receiver}. To receive messages, ${publish}. Sending ` +
        'works without it.',
    );
  }
  for (const [at, step] of steps.entries()) tell(`${at + 1}. ${step}`, 3);
  if (kind === 'slack') {
    tell('All steps at once, from a manifest: adjutant channels setup slack --manifest');
    tell(
      'Then choose Install App, and Retry at Event Subscriptions after the secret is ' +
        'stored here.',
    );
  }
};

/**
 * Tests the stored settings and, if the API of the platform allows, registers the receiver
 * address.
 */
const testPlatform = async (
  context: Context,
  client: Client,
  { kind, installs }: PlatformReply,
): Promise<boolean> => {
  const { out } = context;
  const checked = await client.platforms.test({ kind });
  if (!checked.ok) {
    context.exitCode = Exit.failed;
    out.warn(`${kind} rejects the settings: ${oneLine(checked.error ?? '')}`);
    out.warn(
      `Fix them: adjutant channels setup ${kind}   Test them: adjutant platforms test ` + `${kind}`,
    );
    return false;
  }
  out.note(`${kind} works: ${oneLine(checked.account ?? '')}`);
  return !installs || installed(context, client, kind);
};

/** Without it messages are sent to the platform, but none arrive from it. */
const installed = async (context: Context, client: Client, kind: string): Promise<boolean> => {
  const installation = await client.platforms.install({ kind });
  if (installation.ok) return true;
  context.exitCode = Exit.failed;
  context.out.warn(
    `${kind} does not have the receiver address yet: ${oneLine(installation.error ?? '')}`,
  );
  context.out.warn(`Register it: adjutant platforms install ${kind}`);
  return false;
};

const explainLinking = ({ out }: Context, { kind }: PlatformReply): void => {
  out.note('Now each user links their own chat:');
  if (kind === 'ntfy' || kind === 'email') {
    out.note(`  adjutant channels add ${kind} <${kind === 'ntfy' ? 'topic' : 'address'}>`);
    return;
  }
  // The whole team reads replies in Teams, so they contain no code.
  if (kind === 'teams') {
    out.note('  adjutant channels link          then send there: @Adjutant /link <code>');
    return;
  }
  out.note(`  adjutant channels link          then send in ${kind}: /link <code>`);
  out.note('  or send /link there first, then:  adjutant channels link <code>');
};

const endpoints = await contracts.platforms();

const list = requestCommand({
  name: 'list',
  endpoint: endpoints.list,
  examples: ['', '--json', '--fields kind,sends,receives'],
  seeAlso: 'adjutant channels setup',
  show: ({ out }, reply) => {
    out.page({ reply, rows: reply.platforms, columns: platformTableColumns });
    if (reply.platforms.every(({ updatedAt }) => updatedAt === null)) {
      out.note('Set one up: adjutant channels setup <kind>');
    }
  },
});

const get = command({
  name: 'get',
  args: '<kind>',
  summary: 'Show the settings and setup steps of a platform',
  examples: ['slack', 'slack --json', 'telegram --fields kind,missing'],
  run: async (context, { args }) => {
    const platform = await findPlatform(await context.client(), args.kind);
    const { out } = context;
    if (out.format !== 'table' || context.flags.fields)
      return out.item(platform, platformTableColumns);
    const fields = platform.fields.map(
      ({ name, isSet, isSecret, isOptional, value }): [string, string] => [
        name,
        isSet
          ? isSecret
            ? 'set, a secret'
            : (value ?? '')
          : isOptional
            ? 'not set, optional'
            : 'not set',
      ],
    );
    const receiver = platform.receiver ?? 'none: this platform only sends';
    const base: [string, string][] = platform.baseUrl ? [['base-url', platform.baseUrl]] : [];
    out.facts([['receiver', receiver], ...base, ...fields]);
    for (const [at, step] of platform.setup.entries()) out.sentence(`${at + 1}. ${step}`, 3);
  },
});

const set = command({
  name: 'set',
  aliases: ['update'],
  args: '<kind>',
  calls: [endpoints.update],
  examples: [
    'slack --bot-token-file ./token --signing-secret-file ./secret',
    'telegram --bot-token-file - < ./token',
    'mattermost --base-url https://chat.example.org',
    'whatsapp --template-name assistant_news --template-language en',
    'slack --forget botToken,signingSecret',
  ],
  flags: {
    ...fieldFlags,
    forget: textFlag('<names>', 'Names of settings to remove, separated by commas'),
  },
  notes: ['Secrets come from files or stdin, never from the command line.'],
  seeAlso: 'adjutant channels setup, which asks for the values',
  run: async (context, { args, flags }) => {
    const { forget, ...rest } = flags;
    const forgotten = (forget?.split(',') ?? []).map((name): [string, null] => [name.trim(), null]);
    const values = {
      ...Object.fromEntries(forgotten),
      ...(await readPlatformFields(context, rest)),
    };
    const client = await context.client();
    const { kind } = await findPlatform(client, args.kind);
    const base = rest.baseUrl === undefined ? {} : { baseUrl: rest.baseUrl || null };
    const body = { ...base, ...(Object.keys(values).length > 0 && { values }) };
    if (Object.keys(body).length === 0) {
      throw usageFault(
        'No settings were passed.',
        `List the settings: adjutant platforms get ${kind}`,
      );
    }
    const changed = await client.platforms.update({ kind, body });
    const missing = missingSettings(changed);
    const left = missing.length > 0 ? ` Not set yet: ${missing.join(', ')}.` : '';
    context.out.done(`Stored the settings of ${kind}.${left}`, changed, platformTableColumns);
  },
});

type PlatformTest = Reply<'platforms', 'test'>;

const checkColumns = buildColumns<PlatformTest>(['ok', 'account', 'error']);

const at = async (client: Client, { kind }: { kind: string }) => ({
  kind: (await findPlatform(client, kind)).kind,
});

const showTest = (context: Context, checked: PlatformTest, { args }: PlatformInput): void => {
  const { ok, account, error } = checked;
  if (!ok) context.exitCode = Exit.failed;
  const works = `${args.kind.toLowerCase()} works: ${oneLine(account ?? '')}`;
  context.out.done(ok ? works : oneLine(error ?? 'The test failed'), checked, checkColumns);
};

interface PlatformInput {
  args: { kind: string };
}

const test = requestCommand({
  name: 'test',
  args: '<kind>',
  endpoint: endpoints.test,
  examples: ['slack', 'whatsapp --json', 'telegram --quiet && echo it works'],
  notes: ['Exit code 1: the test failed, with the reason.'],
  at,
  show: showTest,
});

const install = requestCommand({
  name: 'install',
  args: '<kind>',
  endpoint: endpoints.install,
  examples: ['telegram', 'discord --json', 'telegram --quiet && echo it is known there'],
  at,
  show: showTest,
});

const remove = requestCommand({
  name: 'delete',
  args: '<kind>',
  endpoint: endpoints.delete,
  examples: ['slack', 'slack --yes', 'telegram --yes'],
  at,
  confirm: ({ args: { kind } }) =>
    `Delete all settings of ${kind.toLowerCase()}? Nothing is sent there then.`,
  show: ({ out }, _, { args: { kind } }) =>
    out.note(`Deleted the settings of ${kind.toLowerCase()}.`),
});

export const platformsGroup: CommandGroup = {
  commands: [list, get, set, test, install, remove],
  notes: ['Step by step: adjutant channels setup <kind>'],
};
