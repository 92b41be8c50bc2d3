import { contracts, type Reply } from '../../src/client/index.js';
import { findPlatform, missingOf, platformTableColumns } from '../channels/columns.js';
import { fieldFlags, readPlatformFields } from '../channels/fields.js';
import { fieldColumns, type TableColumn } from '../columns.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { Exit, usageFault } from '../exit.js';
import { oneLine } from '../text.js';

const endpoints = await contracts.platforms();

const list = command({
  name: 'list',
  calls: [endpoints.list],
  examples: ['', '--json', '--fields kind,sends,receives'],
  seeAlso: 'adjutant channels setup',
  run: async (context) => {
    const reply = await (await context.client()).platforms.list();
    context.out.page({ reply, rows: reply.platforms, columns: platformTableColumns });
    if (reply.platforms.every(({ updatedAt }) => updatedAt === null)) {
      context.out.note('Set one up: adjutant channels setup <kind>');
    }
  },
});

const get = command({
  name: 'get',
  args: '<kind>',
  summary: 'Show what is set of a platform, and what to do at it',
  examples: ['slack', 'slack --json', 'telegram --fields kind,missing'],
  run: async (context, { args }) => {
    const platform = await findPlatform(await context.client(), args.kind);
    const { out } = context;
    if (out.format !== 'table' || context.flags.fields)
      return out.item(platform, platformTableColumns);
    const fields = platform.fields.map(({ name, isSet, isSecret, value }): [string, string] => [
      name,
      isSet ? (isSecret ? 'set, a secret' : (value ?? '')) : 'not set',
    ]);
    out.facts([['receiver', platform.receiver], ['base-url', platform.baseUrl], ...fields]);
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
    'slack --forget botToken,signingSecret',
  ],
  flags: {
    ...fieldFlags,
    forget: textFlag('<names>', 'Names of what is set no more, with commas'),
  },
  notes: ['Secrets come from files or stdin, never from the command line.'],
  seeAlso: 'adjutant channels setup, which asks for what it needs',
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
      throw usageFault('Nothing to set.', `What there is: adjutant platforms get ${kind}`);
    }
    const changed = await client.platforms.update({ kind, body });
    const missing = missingOf(changed);
    const left = missing.length > 0 ? ` Not set yet: ${missing.join(', ')}.` : '';
    context.out.done(`Set up ${kind}.${left}`, changed, platformTableColumns);
  },
});

type PlatformTest = Reply<'platforms', 'test'>;

const checkColumns: TableColumn<PlatformTest>[] = [...fieldColumns('ok', 'account', 'error')];

const shown = (context: Context, kind: string, checked: PlatformTest): void => {
  if (!checked.ok) context.exitCode = Exit.failed;
  const { ok, account, error } = checked;
  const sentence = ok ? `${kind} works: ${oneLine(account ?? '')}` : oneLine(error ?? 'It failed');
  context.out.done(sentence, checked, checkColumns);
};

const test = command({
  name: 'test',
  args: '<kind>',
  calls: [endpoints.test],
  examples: ['slack', 'whatsapp --json', 'telegram --quiet && echo it works'],
  notes: ['Exit code 1: it does not work, and why.'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { kind } = await findPlatform(client, args.kind);
    shown(context, kind, await client.platforms.test({ kind }));
  },
});

const install = command({
  name: 'install',
  args: '<kind>',
  calls: [endpoints.install],
  examples: ['telegram', 'telegram --json', 'telegram --quiet && echo it is known there'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { kind } = await findPlatform(client, args.kind);
    shown(context, kind, await client.platforms.install({ kind }));
  },
});

const remove = command({
  name: 'delete',
  args: '<kind>',
  calls: [endpoints.delete],
  examples: ['slack', 'slack --yes', 'telegram --yes'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { kind } = await findPlatform(client, args.kind);
    await context.ask.confirm(`Forget all that was set of ${kind}? Nothing is sent there then.`);
    await client.platforms.delete({ kind });
    context.out.note(`Forgot ${kind}.`);
  },
});

export const platformsGroup: CommandGroup = {
  commands: [list, get, set, test, install, remove],
  notes: ['Step by step: adjutant channels setup <kind>'],
};
