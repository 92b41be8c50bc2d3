import { resolve } from 'node:path';
import type { restoreFile } from '../../src/backup.js';
import { type BackupView, contracts } from '../../src/client/index.js';
import { shellWord } from '../../src/kernel/shellword.js';
import { backupColumns, followed, offline } from '../backup/progress.js';
import { columnsOf } from '../columns.js';
import { type CommandGroup, type Context, command, type Flag, on, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { homeOf } from '../daemon/environment.js';
import { usageFault } from '../exit.js';
import { readNewSecret, secretFrom, withInput } from '../input.js';
import { sizeText } from '../operations/counts.js';
import { age, duration, safe } from '../text.js';

/** A passphrase is asked for, or comes from a file; never a flag's value, which ps would show. */
const passphraseFile = textFlag(
  '<file|->',
  'Where the passphrase is, instead of being asked for it',
);

const instead = '--passphrase-file';

/** The passphrase that the backup was made with. */
const passphraseOf = (context: Context, file: string | undefined): Promise<string> =>
  secretFrom(context, file, { ask: 'Passphrase', instead });

const count = (value: string, about: string): Flag<number> => ({
  value,
  about,
  read: (given) => {
    if (/^[1-9]\d{0,3}$/.test(given)) return Number(given);
    throw usageFault(`${value} is a whole number above 0 (got "${given}")`);
  },
});

/**
 * Prints the settings for a schedule. They belong to the daemon's environment and cannot be changed
 * through the API.
 */
const schedule = command({
  name: 'schedule',
  summary: 'Show the schedule of backups, or print the settings for one',
  examples: ['', '--daily --keep 7 --to /mnt/backup', '--hours 6 --keep 28'],
  flags: {
    daily: on('One a day'),
    hours: count('<n>', 'One every so many hours'),
    keep: count('<n>', 'How many are kept, 7 unless given'),
    to: textFlag('<folder>', 'Where they go, better on another disk'),
  },
  notes: ['With flags it prints settings for the environment of the daemon, and changes nothing.'],
  run: async (context, { flags }) => {
    const { out } = context;
    const every = flags.daily ? 'daily' : flags.hours && `${flags.hours}h`;
    if (every) {
      out.line(`ADJUTANT_BACKUP_EVERY=${every}`);
      out.line(`ADJUTANT_BACKUP_KEEP=${flags.keep ?? 7}`);
      if (flags.to) out.line(`ADJUTANT_BACKUP_FOLDER=${resolve(flags.to)}`);
      out.line('ADJUTANT_BACKUP_PASSPHRASE_FILE=<a file that only the daemon can read>');
      out.note('Set these where the daemon is started, then: adjutant restart');
      return;
    }
    const page = await (await context.client()).backups.list({ query: { limit: 1 } });
    const now = page.schedule;
    if (out.format !== 'table') return out.json(now);
    if (now.everyHours === 0) {
      out.line('No backups are made by themselves.');
      out.note('Have them made: adjutant backup schedule --daily --keep 7');
      return;
    }
    out.line(`Every ${now.everyHours} h into ${now.folder}, ${now.keep} are kept.`);
    out.line(`Last ${age(now.lastAt)}, next ${age(now.nextAt)}.`);
  },
});

const endpoints = await contracts.backups();

const backupCrud = crud({
  noun: 'backup',
  path: 'backup',
  rows: 'backups',
  endpoints: { list: endpoints.list },
  columns: backupColumns,
  named: ({ id, file }) => ({ id, name: file }),
});

const create = command({
  name: 'create',
  calls: [endpoints.create, endpoints.get],
  examples: ['', '--to /mnt/backup', '--without-documents', '--passphrase-file - < ./passphrase'],
  flags: {
    to: textFlag(
      '<folder>',
      'Folder on the machine of the daemon; that of its settings unless given',
    ),
    withoutDocuments: on('Leave the originals of documents out; their texts are in it'),
    passphraseFile,
  },
  notes: [
    'For admins. Database, files and settings’ names are readable in it; keys and logins are sealed.',
    'Without the passphrase it cannot be restored. Nobody can recover the passphrase.',
  ],
  seeAlso: 'adjutant backup verify, adjutant backup schedule',
  run: async (context, { flags }) => {
    const folder = flags.to === undefined ? {} : { folder: resolve(flags.to) };
    const left = flags.withoutDocuments ? { withoutDocuments: true } : {};
    const begun = await withPassphrase(context, flags.passphraseFile, async (given) =>
      (await context.client()).backups.create({ body: { ...given, ...folder, ...left } }),
    );
    const made = await followed(context, begun);
    if (context.out.format !== 'table') return context.out.item(made, backupColumns);
    sayMade(context, made);
  },
});

/** Asks for the passphrase if the daemon replies that it has none for all backups. */
const withPassphrase = (
  context: Context,
  file: string | undefined,
  begin: (given: { passphrase?: string }) => Promise<BackupView>,
): Promise<BackupView> => {
  const question = { ask: 'Passphrase for the keys (8 or more)', instead, called: 'passphrases' };
  const ask = async () => ({ passphrase: await readNewSecret(context, question, file) });
  return withInput({ code: 'passphrase_missing', isGiven: file !== undefined, ask }, begin);
};

const sayMade = ({ out }: Context, { made, file, createdAt, finishedAt }: BackupView): void => {
  if (!made) return;
  const tookMs = Date.parse(finishedAt ?? createdAt) - Date.parse(createdAt);
  out.note(
    `database ${sizeText(made.databaseBytes)}   files ${made.files}   keys encrypted   ` +
      `manifest sha256:${made.manifestSha256.slice(0, 12)}…`,
  );
  for (const line of made.skipped.slice(0, 10)) out.note(`not in it: ${safe(line)}`);
  out.line(safe(file));
  out.note(`${sizeText(made.bytes)} in ${duration(tookMs)}, the daemon kept serving`);
  out.note(`Prove it: adjutant backup verify ${shellWord(file)}`);
};

const verify = command({
  name: 'verify',
  args: '[file]',
  calls: [endpoints.verify, endpoints.get],
  examples: ['', '/mnt/backup/adjutant-20261120-143002.tar', '--json'],
  flags: { passphraseFile },
  notes: [
    'A file is read here, and no daemon is needed; without one the daemon verifies its newest.',
    'Digests, database, schema, passphrase; then a scratch copy is started: it listens nowhere, runs ' +
      'nothing and sends nothing, opens all secrets and holds the audit log against its chain.',
    'Exit 1 where something is wrong.',
  ],
  run: async (context, { args, flags }) => {
    const { file } = args;
    if (file === undefined) return verifyNewest(context, flags.passphraseFile);
    const passphrase = await passphraseOf(context, flags.passphraseFile);
    const { verifyFile } = await import('../../src/backup.js');
    const proved = await offline(context, 'Not good', (onStep) =>
      verifyFile({ file: resolve(file), passphrase }, onStep),
    );
    sayProved(context, proved);
  },
});

const verifyNewest = async (context: Context, from: string | undefined): Promise<void> => {
  const begun = await withPassphrase(context, from, async (body) =>
    (await context.client()).backups.verify({ body }),
  );
  const { proved, file } = await followed(context, begun);
  context.out.note(safe(file));
  if (proved) sayProved(context, proved);
};

type BackupProof = NonNullable<BackupView['proved']>;

const sayProved = ({ out }: Context, proved: BackupProof): void => {
  if (out.format !== 'table') {
    out.item(
      proved,
      columnsOf([
        'createdAt',
        'version',
        'schema',
        'files',
        'secrets',
        'auditEntries',
        'manifestSha256',
      ]),
    );
    return;
  }
  const { files, schema, secrets, auditEntries } = proved;
  out.line(
    `digests ok (${files} files)   database ok, schema ${schema}   passphrase opens the keys`,
  );
  out.line(
    `drill: started a scratch copy, ${secrets} secrets opened, ${auditEntries} audit entries unbroken`,
  );
  out.line(`Good. Everything acknowledged before ${proved.createdAt} is in it.`);
};

const restore = command({
  name: 'restore',
  args: '<file>',
  summary: 'Restore a backup into an empty home',
  examples: [
    'adjutant --home /srv/new backup restore /mnt/backup/adjutant-20261120-143002.tar',
    'adjutant --home /srv/new backup restore backup.tar --passphrase-file - < ./passphrase',
    'adjutant --home /srv/new backup restore backup.tar --json',
  ],
  flags: { passphraseFile },
  notes: [
    'All of the file is read and proved before anything is written. What was at work waits: agents ' +
      'are paused, runs interrupted, hooks with a schedule off, so that two copies never act as one.',
  ],
  seeAlso: 'adjutant help backup',
  run: async (context, { args, flags }) => {
    const home = homeOf(context.flags.home);
    const passphrase = await passphraseOf(context, flags.passphraseFile);
    const { restoreFile: perform } = await import('../../src/backup.js');
    const restored = await offline(context, 'Not restored', (onStep) =>
      perform({ home, file: resolve(args.file), passphrase }, onStep),
    );
    sayRestored(context, home, restored);
  },
});

type RestoreReport = Awaited<ReturnType<typeof restoreFile>['done']>;

const sayRestored = ({ out }: Context, home: string, restored: RestoreReport): void => {
  if (out.format !== 'table') {
    out.json(restored);
    return;
  }
  const { agents, executions, schedules, folders, settings } = restored;
  const at = home === homeOf(undefined) ? '' : `--home ${shellWord(home)} `;
  out.sentence(`Restored to ${home}, as it was at ${restored.createdAt}.`);
  out.note('So that two copies never act as one, nothing goes on by itself:');
  out.note(`  agents that wait paused           ${agents}   adjutant agents list --status paused`);
  out.note(`  runs that were not finished       ${executions}   adjutant hooks executions, replay`);
  out.note(
    `  schedules, now off                ${schedules}   adjutant hooks enable, recurring enable`,
  );
  out.note(`  watched folders, now off          ${folders}   adjutant knowledge folders list`);
  if (settings.length > 0) out.note(`It was run with these settings: ${settings.join(' ')}`);
  out.note(`Start: adjutant ${at}up`);
};

export const backup: CommandGroup = {
  summary: 'Copies of everything, tested by starting them once',
  commands: [
    create,
    backupCrud.list({
      examples: ['', '--json', '--fields file,status'],
      next: (rows) =>
        rows.length === 0 ? 'No backups. Make one: adjutant backup create' : undefined,
    }),
    verify,
    restore,
    schedule,
    backupCrud.act('cancel', endpoints.cancel, {
      examples: [
        '9c1e4a',
        'backup list --output id | head -1 | xargs adjutant backup cancel',
        '9c1e4a --json',
      ],
      message: () => 'Cancelled.',
    }),
  ],
};
