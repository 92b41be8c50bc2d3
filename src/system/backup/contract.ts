import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

/** Shortest passphrase, in characters; the same limit as where keys are sealed. */
const SHORTEST = 8;
const number = () => s.whole(0, Number.MAX_SAFE_INTEGER);
const passphrase = () =>
  s.optional(
    s.text(1024).min(SHORTEST).description('Of the keys in it; that of the settings unless given'),
  );

const BackupDelivery = s.object('NewestDelivery', { id: s.text(80), receivedAt: s.time() });

export const BackupView = s.object('Backup', {
  id: s.id('backup'),
  kind: s.oneOf('BackupKind', 'create', 'verify'),
  cause: s.oneOf('BackupCause', 'asked', 'scheduled'),
  status: s.oneOf('BackupStatus', 'running', 'done', 'failed', 'cancelled', 'interrupted'),
  file: s.text(5000).description('On the machine of the daemon'),
  progress: s.nullable(
    s.object('BackupProgress', {
      stage: s.oneOf('BackupStage', 'database', 'files', 'digests', 'checks', 'copy', 'drill'),
      done: number(),
      total: number().description('0 where nobody knows'),
    }),
  ),
  made: s.nullable(
    s.object('BackupMade', {
      bytes: number(),
      databaseBytes: number(),
      files: number(),
      schema: number(),
      newestDelivery: s.nullable(BackupDelivery),
      manifestSha256: s.text(64),
      skipped: s
        .list(s.text(5000), 1_000_000)
        .description('What the home holds and the backup not'),
    }),
  ),
  proved: s.nullable(
    s.object('BackupProof', {
      createdAt: s.time().description('Everything acknowledged before is in it'),
      version: s.text(100),
      files: number(),
      schema: number(),
      newestDelivery: s.nullable(BackupDelivery),
      manifestSha256: s.text(64),
      secrets: number().description('Sealed values that its keys opened'),
      auditEntries: number().description('Entries of the audit log that hold'),
    }),
  ),
  error: s.nullable(s.text(10_000)),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()),
  removedAt: s.nullable(s.time()).description('When its file made room for newer ones'),
});
export type BackupView = s.Static<typeof BackupView>;
export type BackupProgress = NonNullable<BackupView['progress']>;
/** The facts about a backup that was made. */
export type BackupMade = NonNullable<BackupView['made']>;
/** The facts that a verification proved. */
export type VerifiedBackup = NonNullable<BackupView['proved']>;

/**
 * Ours: endpoints for backups. A passphrase is in no log and no reply; `secret` keeps its digest
 * out of the database too.
 */
export const backups = contract({
  list: endpoint.get('/api/admin/backups', {
    summary: 'List backups and their verifications, and what is made by itself',
    access: 'admin',
    audit: 'backups.list',
    query: pageQuery('BackupQuery', {}),
    reply: s.object('BackupsPage', {
      backups: s.list(BackupView, 200),
      nextCursor: s.nullable(s.text(200)),
      schedule: s.object('BackupSchedule', {
        everyHours: number().description('0: nothing is made by itself'),
        keep: number(),
        folder: s.text(5000),
        isPassphraseSet: s.flag(),
        lastAt: s.nullable(s.time()),
        nextAt: s.nullable(s.time()),
      }),
    }),
  }),
  create: endpoint.post('/api/admin/backups', {
    summary: 'Make a backup while the daemon goes on',
    access: 'admin',
    audit: 'backups.create',
    secret: true,
    example: { passphrase: 'a sentence for backups alone' },
    body: s.object('NewBackup', {
      passphrase: passphrase(),
      folder: s.optional(
        s.text(4000).pattern(/^\//).description('Absolute; that of the settings unless given'),
      ),
      withoutDocuments: s.optional(
        s.flag().description('Leaves the originals of documents out; their texts are in it'),
      ),
    }),
    reply: BackupView,
    status: 202,
  }),
  verify: endpoint.post('/api/admin/backups/verify', {
    summary: 'Read a backup to its end and start a copy of it once',
    access: 'admin',
    audit: 'backups.verify',
    secret: true,
    example: { passphrase: 'a sentence for backups alone' },
    body: s.object('BackupVerification', {
      id: s.optional(s.id('backup')).description('The newest unless given'),
      passphrase: passphrase(),
    }),
    reply: BackupView,
    status: 202,
  }),
  get: endpoint.get('/api/admin/backups/{id}', {
    summary: 'How far a backup or its verification is',
    access: 'admin',
    audit: 'backups.get',
    query: s.object('BackupWait', {
      wait: s.optional(s.queryWhole(0, 25).description('Seconds to wait for its end')),
    }),
    reply: BackupView,
  }),
  cancel: endpoint.post('/api/admin/backups/{id}/cancel', {
    summary: 'End what is being made or verified; nothing of it stays',
    access: 'admin',
    audit: 'backups.cancel',
    reply: BackupView,
  }),
});

/** The schedule of the backups with its last and next time. */
export type Timetable = s.Static<(typeof backups)['list']['reply']>['schedule'];
