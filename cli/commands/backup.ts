import { resolve } from 'node:path';
import { ApiError } from '../../src/client/errors.js';
import { type BackupView, contracts } from '../../src/client/index.js';
import { backupColumns } from '../backup/columns.js';
import { followed } from '../backup/follow.js';
import { offline } from '../backup/offline.js';
import { newPassphrase, passphraseFile, passphraseOf } from '../backup/passphrase.js';
import { megabytes } from '../backup/progress.js';
import { schedule } from '../backup/schedule.js';
import { fieldColumns } from '../columns.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { crud } from '../crud.js';
import { homeOf } from '../daemon/environment.js';
import { safe } from '../text.js';
import { duration } from '../times.js';

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
  examples: ['', '--to /mnt/backup', '--passphrase-file - < ./passphrase'],
  flags: {
    to: textFlag(
      '<folder>',
      'Folder on the machine of the daemon; that of its settings unless given',
    ),
    passphraseFile,
  },
  notes: [
    'For admins. Database, files and settings’ names are readable in it; keys and logins are sealed.',
    'Without the passphrase nobody restores it, and nobody can give it back to you.',
  ],
  seeAlso: 'adjutant backup verify, adjutant backup schedule',
  run: async (context, { flags }) => {
    const folder = flags.to === undefined ? {} : { folder: resolve(flags.to) };
    const begun = await withPassphrase(context, flags.passphraseFile, async (given) =>
      (await context.client()).backups.create({ body: { ...given, ...folder } }),
    );
    const made = await followed(context, begun);
    if (context.out.format !== 'table') return context.out.item(made, backupColumns);
    sayMade(context, made);
  },
});

/** The daemon may have one for all backups: it is asked for where the daemon says so. */
const withPassphrase = async (
  context: Context,
  file: string | undefined,
  begin: (given: { passphrase?: string }) => Promise<BackupView>,
): Promise<BackupView> => {
  if (file !== undefined) return begin({ passphrase: await newPassphrase(context, file) });
  try {
    return await begin({});
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'passphrase_missing') throw error;
    return begin({ passphrase: await newPassphrase(context, undefined) });
  }
};

const sayMade = ({ out }: Context, { made, file, createdAt, finishedAt }: BackupView): void => {
  if (!made) return;
  const tookMs = Date.parse(finishedAt ?? createdAt) - Date.parse(createdAt);
  out.note(
    `database ${megabytes(made.databaseBytes)}   files ${made.files}   keys encrypted   ` +
      `manifest sha256:${made.manifestSha256.slice(0, 12)}…`,
  );
  for (const line of made.skipped.slice(0, 10)) out.note(`not in it: ${safe(line)}`);
  out.line(safe(file));
  out.note(`${megabytes(made.bytes)} in ${duration(tookMs)}, the daemon kept serving`);
  out.note(`Prove it: adjutant backup verify ${file}`);
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
    const proved = await offline(context, 'Not good', (told) =>
      verifyFile({ file: resolve(file), passphrase }, told),
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
    out.item(proved, [
      ...fieldColumns(
        'createdAt',
        'version',
        'schema',
        'files',
        'secrets',
        'auditEntries',
        'manifestSha256',
      ),
    ]);
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
    const { restoreFile } = await import('../../src/backup.js');
    const restored = await offline(context, 'Not restored', (told) =>
      restoreFile({ home, file: resolve(args.file), passphrase }, told),
    );
    sayRestored(context, home, restored);
  },
});

interface RestoreReport {
  agents: number;
  executions: number;
  schedules: number;
  createdAt: string;
  settings: string[];
}

const sayRestored = ({ out }: Context, home: string, restored: RestoreReport): void => {
  if (out.format !== 'table') {
    out.json(restored);
    return;
  }
  const { agents, executions, schedules, settings } = restored;
  const at = home === homeOf(undefined) ? '' : `--home ${home} `;
  out.sentence(`Restored to ${home}, as it was at ${restored.createdAt}.`);
  out.note('So that two copies never act as one, nothing goes on by itself:');
  out.note(`  agents that wait paused           ${agents}   adjutant agents list --status paused`);
  out.note(`  runs that were not finished       ${executions}   adjutant hooks executions, replay`);
  out.note(`  hooks with a schedule, now off    ${schedules}   adjutant hooks enable <hook>`);
  if (settings.length > 0) out.note(`It was run with these settings: ${settings.join(' ')}`);
  out.note(`Start: adjutant ${at}up`);
};

export const backup: CommandGroup = {
  summary: 'Copies of all that the daemon knows, proved by starting them once',
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
      said: () => 'Cancelled.',
    }),
  ],
};
