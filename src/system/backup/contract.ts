import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

// The same limit as MIN_PASSPHRASE_LENGTH, where keys are sealed.
const MIN_LENGTH = 8;
const number = () => s.integer(0, Number.MAX_SAFE_INTEGER);
const passphrase = () =>
  s.optional(
    s
      .text(1024)
      .min(MIN_LENGTH)
      .description(
        'Passphrase that encrypts the keys in the backup. Defaults to `ADJUTANT_BACKUP_PASSPHRASE`. Required if that setting is not set',
      ),
  );

const BackupDelivery = s.object('NewestDelivery', { id: s.text(80), receivedAt: s.time() });

export const BackupView = s.object('Backup', {
  id: s.id('backup'),
  kind: s.oneOf('BackupKind', 'create', 'verify'),
  cause: s.oneOf('BackupCause', 'asked', 'scheduled'),
  status: s.oneOf('BackupStatus', 'running', 'done', 'failed', 'cancelled', 'interrupted'),
  file: s.text(5000).description('Path of the file on the machine of the daemon'),
  progress: s
    .nullable(
      s.object('BackupProgress', {
        stage: s.oneOf('BackupStage', 'database', 'files', 'digests', 'checks', 'copy', 'drill'),
        done: number(),
        total: number().description('Total amount of work, in the unit of `done`. 0 if unknown'),
      }),
    )
    .description('Progress of the current stage. `null` before the first stage and after the end'),
  made: s
    .nullable(
      s.object('BackupMade', {
        bytes: number(),
        databaseBytes: number(),
        files: number(),
        schema: number(),
        newestDelivery: s
          .nullable(BackupDelivery)
          .description('Newest webhook delivery in the backup. `null` if there is none'),
        manifestSha256: s.text(64),
        skipped: s
          .list(s.text(5000), 1_000_000)
          .description('Paths in the home that are not in the backup, each with the reason'),
      }),
    )
    .description(
      'Contents of the created backup. `null` until the backup is complete, and for a verification',
    ),
  proved: s
    .nullable(
      s.object('BackupProof', {
        createdAt: s
          .time()
          .description(
            'Start of the backup. The backup contains everything acknowledged before this time',
          ),
        version: s.text(100),
        files: number(),
        schema: number(),
        newestDelivery: s
          .nullable(BackupDelivery)
          .description('Newest webhook delivery in the backup. `null` if there is none'),
        manifestSha256: s.text(64),
        secrets: number().description('Number of sealed values that the keys opened'),
        auditEntries: number().description('Number of valid audit log entries'),
      }),
    )
    .description(
      'Verified contents of the backup. `null` until the verification is complete, and for a created backup',
    ),
  error: s.nullable(s.text(10_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
  removedAt: s
    .nullable(s.time())
    .description(
      'Time at which the file was deleted because newer backups replaced the backup. `null` if the file was not deleted',
    ),
});
export type BackupView = s.Static<typeof BackupView>;
export type BackupProgress = NonNullable<BackupView['progress']>;
export type BackupMade = NonNullable<BackupView['made']>;
export type VerifiedBackup = NonNullable<BackupView['proved']>;

// A passphrase is in no log and no reply; `secret` keeps its digest out of the database too.
export const backups = contract({
  list: endpoint.get('/api/admin/backups', {
    summary: 'List backups and verifications',
    description: 'The reply includes the schedule of automatic backups.',
    access: 'admin',
    audit: 'backups.list',
    query: pageQuery('BackupQuery', {}),
    reply: s.object('BackupsPage', {
      backups: s.list(BackupView, 200),
      nextCursor: s
        .nullable(s.text(200))
        .description('Value of `cursor` for the next page. `null` on the last page'),
      schedule: s.object('BackupSchedule', {
        everyHours: number().description(
          'Interval of scheduled backups, in hours. 0 if scheduled backups are disabled',
        ),
        keep: number().description('Number of scheduled backups to keep'),
        folder: s.text(5000),
        isPassphraseSet: s.boolean().description('Whether `ADJUTANT_BACKUP_PASSPHRASE` is set'),
        lastAt: s
          .nullable(s.time())
          .description(
            'Start of the last scheduled backup, even if it failed. `null` if there was none',
          ),
        nextAt: s
          .nullable(s.time())
          .description(
            'Time of the next scheduled backup. `null` if scheduled backups are disabled',
          ),
      }),
    }),
  }),
  create: endpoint.post('/api/admin/backups', {
    summary: 'Create a backup',
    description: 'The backup runs in the background while the daemon keeps running.',
    access: 'admin',
    audit: 'backups.create',
    secret: true,
    example: { passphrase: 'a sentence for backups alone' },
    body: s.object('NewBackup', {
      passphrase: passphrase(),
      folder: s.optional(
        s
          .text(4000)
          .pattern(/^\//)
          .description(
            'Absolute path of the target folder. Defaults to the configured backup folder',
          ),
      ),
      withoutDocuments: s.optional(
        s
          .boolean()
          .description(
            'Whether to omit the original files of documents. The texts of the documents are included',
          ),
      ),
    }),
    reply: BackupView,
    status: 202,
  }),
  verify: endpoint.post('/api/admin/backups/verify', {
    summary: 'Verify a backup',
    description: 'Reads and checks the whole file, then starts a temporary copy of its database.',
    access: 'admin',
    audit: 'backups.verify',
    secret: true,
    example: { passphrase: 'a sentence for backups alone' },
    body: s.object('BackupVerification', {
      id: s.optional(s.id('backup')).description('ID of the backup. Defaults to the newest backup'),
      passphrase: passphrase(),
    }),
    reply: BackupView,
    status: 202,
  }),
  get: endpoint.get('/api/admin/backups/{id}', {
    summary: 'Get a backup or verification',
    access: 'admin',
    audit: 'backups.get',
    query: s.object('BackupWait', {
      wait: s.optional(
        s
          .queryWhole(0, 25)
          .description(
            'Maximum time to wait for the end of the backup or verification, in seconds. Defaults to 0',
          ),
      ),
    }),
    reply: BackupView,
  }),
  cancel: endpoint.post('/api/admin/backups/{id}/cancel', {
    summary: 'Cancel a running backup or verification',
    description: 'The incomplete backup file is deleted.',
    access: 'admin',
    audit: 'backups.cancel',
    reply: BackupView,
  }),
});

export type Timetable = s.Static<(typeof backups)['list']['reply']>['schedule'];
