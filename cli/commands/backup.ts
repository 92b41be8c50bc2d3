import { resolve } from 'node:path';
import type { restoreFile } from '../../src/backup.js';
import { type BackupView, contracts } from '../../src/client/index.js';
import { shellWord } from '../../src/kernel/shellword.js';
import { backupColumns, followBackup, runOffline } from '../backup/progress.js';
import { buildColumns } from '../columns.js';
import {
  type CommandGroup,
  type Context,
  command,
  type Flag,
  switchFlag,
  textFlag,
} from '../command.js';
import { crud } from '../crud.js';
import { resolveHome } from '../daemon/environment.js';
import { usageFault } from '../exit.js';
import { readNewSecret, readSecretInput, withInput } from '../input.js';
import { refuseSpecialFile } from '../localfile.js';
import { sizeText } from '../operations/counts.js';
import { age, duration, safe } from '../text.js';

/** The passphrase is never the value of a flag, because `ps` would show it. */
const passphraseFile = textFlag(
  '<file|->',
  'File with the passphrase. If not set, the command asks for the passphrase',
);

const instead = '--passphrase-file';

const readPassphrase = (context: Context, file: string | undefined): Promise<string> =>
  readSecretInput(context, file, { ask: 'Passphrase', instead });

const count = (flag: string, most: number, about: string): Flag<number> => ({
  value: '<n>',
  about,
  read: (input) => {
    if (/^[1-9]\d*$/.test(input) && Number(input) <= most) return Number(input);
    throw usageFault(`${flag} must be a whole number from 1 to ${most} (got "${input}")`);
  },
});

/**
 * Prints settings for a schedule. They belong to the environment of the daemon and cannot be
 * changed through the API.
 */
const schedule = command({
  name: 'schedule',
  summary: 'Show the backup schedule or print schedule settings',
  examples: ['', '--daily --keep 7 --to /mnt/backup', '--hours 6 --keep 28'],
  flags: {
    daily: switchFlag('Print settings for one backup per day'),
    hours: count('--hours', 8760, 'Interval between backups in the printed settings, in hours'),
    keep: count(
      '--keep',
      9999,
      'Number of backups to keep, in the printed settings. Requires --daily or --hours. Defaults to 7',
    ),
    to: textFlag(
      '<folder>',
      'Backup folder in the printed settings, preferably on another disk. Requires --daily or --hours',
    ),
  },
  notes: [
    'With --daily or --hours, the command prints settings for the environment of the daemon and changes nothing.',
  ],
  run: async (context, { flags }) => {
    const { out } = context;
    if (flags.daily && flags.hours) throw usageFault('Use --daily or --hours, not both.');
    const every = flags.daily ? 'daily' : flags.hours && `${flags.hours}h`;
    if (every) {
      out.line(`ADJUTANT_BACKUP_EVERY=${every}`);
      out.line(`ADJUTANT_BACKUP_KEEP=${flags.keep ?? 7}`);
      if (flags.to) out.line(`ADJUTANT_BACKUP_FOLDER=${resolve(flags.to)}`);
      out.line('ADJUTANT_BACKUP_PASSPHRASE_FILE=<a file that only the daemon can read>');
      out.note('Set these where the daemon is started, then: adjutant restart');
      return;
    }
    if (flags.keep || flags.to) throw usageFault('--keep and --to require --daily or --hours.');
    const page = await (await context.client()).backups.list({ query: { limit: 1 } });
    const now = page.schedule;
    if (out.format !== 'table') return out.json(now);
    if (now.everyHours === 0) {
      out.line('No backups are scheduled.');
      out.note('Schedule them: adjutant backup schedule --daily --keep 7');
      return;
    }
    out.line(`Every ${now.everyHours} h to ${now.folder}, keeping ${now.keep}.`);
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
      'Target folder on the machine of the daemon. Defaults to the configured folder',
    ),
    withoutDocuments: switchFlag(
      'Omit the original files of documents. The text of the documents is included',
    ),
    passphraseFile,
  },
  notes: [
    'Admins only. The backup contains readable database contents, files and names of settings; keys and ' +
      'logins are encrypted.',
    'A restore needs the passphrase. A lost passphrase cannot be recovered.',
  ],
  seeAlso: 'adjutant backup verify, adjutant backup schedule',
  run: async (context, { flags }) => {
    const folder = flags.to === undefined ? {} : { folder: resolve(flags.to) };
    const left = flags.withoutDocuments ? { withoutDocuments: true } : {};
    const begun = await withPassphrase(context, flags.passphraseFile, async (input) =>
      (await context.client()).backups.create({ body: { ...input, ...folder, ...left } }),
    );
    const made = await followBackup(context, begun);
    if (context.out.format !== 'table') return context.out.item(made, backupColumns);
    printBackup(context, made);
  },
});

/** Asks for the passphrase if the daemon has none configured. */
const withPassphrase = (
  context: Context,
  file: string | undefined,
  begin: (input: { passphrase?: string }) => Promise<BackupView>,
): Promise<BackupView> => {
  const question = {
    ask: 'Passphrase for the keys (at least 8 characters)',
    instead,
    called: 'passphrases',
  };
  const ask = async () => ({ passphrase: await readNewSecret(context, question, file) });
  return withInput({ code: 'passphrase_missing', isGiven: file !== undefined, ask }, begin);
};

const printBackup = ({ out }: Context, { made, file, createdAt, finishedAt }: BackupView): void => {
  if (!made) return;
  const tookMs = Date.parse(finishedAt ?? createdAt) - Date.parse(createdAt);
  out.note(
    `database ${sizeText(made.databaseBytes)}   files ${made.files}   keys encrypted   ` +
      `manifest sha256:${made.manifestSha256.slice(0, 12)}…`,
  );
  for (const line of made.skipped.slice(0, 10)) out.note(`not included: ${safe(line)}`);
  out.line(safe(file));
  out.note(`${sizeText(made.bytes)} in ${duration(tookMs)}, the daemon kept running`);
  out.note(`Verify it: adjutant backup verify ${shellWord(file)}`);
};

const verify = command({
  name: 'verify',
  args: '[file]',
  calls: [endpoints.verify, endpoints.get],
  examples: ['', '/mnt/backup/adjutant-20261120-143002.tar', '--json'],
  flags: { passphraseFile },
  notes: [
    'A file is read on this machine, without a daemon. Without a file the daemon ' +
      'verifies its newest backup.',
    'The command checks digests, database, schema and passphrase, then starts a scratch copy ' +
      'that listens on no port, runs nothing and sends nothing, opens all secrets and ' +
      'verifies the audit log.',
    'Exit code 1: a check failed.',
  ],
  run: async (context, { args, flags }) => {
    const { file } = args;
    if (file === undefined) return verifyNewest(context, flags.passphraseFile);
    refuseSpecialFile(file);
    const passphrase = await readPassphrase(context, flags.passphraseFile);
    const { verifyFile } = await import('../../src/backup.js');
    const proved = await runOffline(context, 'Verification failed', (onStep) =>
      verifyFile({ file: resolve(file), passphrase }, onStep),
    );
    printProof(context, proved);
  },
});

const verifyNewest = async (context: Context, from: string | undefined): Promise<void> => {
  const begun = await withPassphrase(context, from, async (body) =>
    (await context.client()).backups.verify({ body }),
  );
  const { proved, file } = await followBackup(context, begun);
  context.out.note(safe(file));
  if (proved) printProof(context, proved);
};

type BackupProof = NonNullable<BackupView['proved']>;

const printProof = ({ out }: Context, proved: BackupProof): void => {
  if (out.format !== 'table') {
    out.item(
      proved,
      buildColumns([
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
  out.line(`Verified. It contains everything acknowledged before ${proved.createdAt}.`);
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
    'The whole file is verified before anything is written. Agents are paused, ' +
      'executions interrupted and schedules disabled, so that two copies never do the ' +
      'same work.',
  ],
  seeAlso: 'adjutant help backup',
  run: async (context, { args, flags }) => {
    refuseSpecialFile(args.file);
    const home = resolveHome(context.flags.home);
    const passphrase = await readPassphrase(context, flags.passphraseFile);
    const { restoreFile: perform } = await import('../../src/backup.js');
    const restored = await runOffline(context, 'Not restored', (onStep) =>
      perform({ home, file: resolve(args.file), passphrase }, onStep),
    );
    printRestore(context, home, restored);
  },
});

type RestoreReport = Awaited<ReturnType<typeof restoreFile>['done']>;

const printRestore = ({ out }: Context, home: string, restored: RestoreReport): void => {
  if (out.format !== 'table') {
    out.json(restored);
    return;
  }
  const { agents, executions, schedules, folders, settings } = restored;
  const at = home === resolveHome(undefined) ? '' : `--home ${shellWord(home)} `;
  out.sentence(`Restored to ${home}, as of ${restored.createdAt}.`);
  out.note('To prevent two copies from doing the same work, nothing resumes by itself:');
  out.note(`  paused agents                     ${agents}   adjutant agents list --status paused`);
  out.note(`  interrupted executions            ${executions}   adjutant hooks executions, replay`);
  out.note(
    `  disabled schedules                ${schedules}   adjutant hooks enable, recurring enable`,
  );
  out.note(`  disabled watched folders          ${folders}   adjutant knowledge folders list`);
  if (settings.length > 0)
    out.note(`The backup was made with these settings: ${settings.join(' ')}`);
  out.note(`Start: adjutant ${at}up`);
};

export const backup: CommandGroup = {
  summary: 'Manage backups',
  commands: [
    create,
    backupCrud.list({
      examples: ['', '--json', '--fields file,status'],
      next: (rows) =>
        rows.length === 0 ? 'No backups. Create one: adjutant backup create' : undefined,
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
