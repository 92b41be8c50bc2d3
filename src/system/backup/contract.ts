import { contract } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import {
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  optional,
  queryWhole,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

/** Shortest passphrase, in characters; the same limit as where keys are sealed. */
const SHORTEST = 8;
const number = () => whole(0, Number.MAX_SAFE_INTEGER);
const passphrase = () =>
  optional(
    text(1024).min(SHORTEST).description('Of the keys in it; that of the settings unless given'),
  );

const BackupDelivery = object('NewestDelivery', { id: text(80), receivedAt: time() });

export const BackupView = object('Backup', {
  id: id('backup'),
  kind: oneOf('BackupKind', 'create', 'verify'),
  cause: oneOf('BackupCause', 'asked', 'scheduled'),
  status: oneOf('BackupStatus', 'running', 'done', 'failed', 'cancelled', 'interrupted'),
  file: text(5000).description('On the machine of the daemon'),
  progress: nullable(
    object('BackupProgress', {
      stage: oneOf('BackupStage', 'database', 'files', 'digests', 'checks', 'copy', 'drill'),
      done: number(),
      total: number().description('0 where nobody knows'),
    }),
  ),
  made: nullable(
    object('BackupMade', {
      bytes: number(),
      databaseBytes: number(),
      files: number(),
      schema: number(),
      newestDelivery: nullable(BackupDelivery),
      manifestSha256: text(64),
      skipped: list(text(5000), 1_000_000).description('What the home holds and the backup not'),
    }),
  ),
  proved: nullable(
    object('BackupProof', {
      createdAt: time().description('Everything acknowledged before is in it'),
      version: text(100),
      files: number(),
      schema: number(),
      newestDelivery: nullable(BackupDelivery),
      manifestSha256: text(64),
      secrets: number().description('Sealed values that its keys opened'),
      auditEntries: number().description('Entries of the audit log that hold'),
    }),
  ),
  error: nullable(text(10_000)),
  createdAt: time(),
  finishedAt: nullable(time()),
  removedAt: nullable(time()).description('When its file made room for newer ones'),
});
export type BackupView = Static<typeof BackupView>;

/**
 * Ours: endpoints for backups. A passphrase is in no log and no reply; `secret` keeps its digest
 * out of the database too.
 */
export const backups = contract({
  list: {
    method: 'GET',
    path: '/api/admin/backups',
    summary: 'List backups and their verifications, and what is made by itself',
    access: 'admin',
    audit: 'backups.list',
    query: pageQuery('BackupQuery', {}),
    reply: object('BackupsPage', {
      backups: list(BackupView, 200),
      nextCursor: nullable(text(200)),
      schedule: object('BackupSchedule', {
        everyHours: number().description('0: nothing is made by itself'),
        keep: number(),
        folder: text(5000),
        isPassphraseSet: flag(),
        lastAt: nullable(time()),
        nextAt: nullable(time()),
      }),
    }),
  },
  create: {
    method: 'POST',
    path: '/api/admin/backups',
    summary: 'Make a backup while the daemon goes on',
    access: 'admin',
    audit: 'backups.create',
    secret: true,
    example: { passphrase: 'a sentence for backups alone' },
    body: object('NewBackup', {
      passphrase: passphrase(),
      folder: optional(
        text(4000).pattern(/^\//).description('Absolute; that of the settings unless given'),
      ),
    }),
    reply: BackupView,
    status: 202,
  },
  verify: {
    method: 'POST',
    path: '/api/admin/backups/verify',
    summary: 'Read a backup to its end and start a copy of it once',
    access: 'admin',
    audit: 'backups.verify',
    secret: true,
    example: { passphrase: 'a sentence for backups alone' },
    body: object('BackupVerification', {
      id: optional(id('backup')).description('The newest unless given'),
      passphrase: passphrase(),
    }),
    reply: BackupView,
    status: 202,
  },
  get: {
    method: 'GET',
    path: '/api/admin/backups/{id}',
    summary: 'How far a backup or its verification is',
    access: 'admin',
    audit: 'backups.get',
    query: object('BackupWait', {
      wait: optional(queryWhole(0, 25).description('Seconds to wait for its end')),
    }),
    reply: BackupView,
  },
  cancel: {
    method: 'POST',
    path: '/api/admin/backups/{id}/cancel',
    summary: 'End what is being made or verified; nothing of it stays',
    access: 'admin',
    audit: 'backups.cancel',
    reply: BackupView,
  },
});
