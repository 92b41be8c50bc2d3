import type * as accounts from './tables/accounts.js';
import type * as agents from './tables/agents.js';
import type * as audit from './tables/audit.js';
import type * as backups from './tables/backups.js';
import type * as channels from './tables/channels.js';
import type * as documents from './tables/documents.js';
import type * as experts from './tables/experts.js';
import type * as folders from './tables/folders.js';
import type * as hooks from './tables/hooks.js';
import type * as jobs from './tables/jobs.js';
import type * as knowledge from './tables/knowledge.js';
import type * as mail from './tables/mail.js';
import type * as memories from './tables/memories.js';
import type * as models from './tables/models.js';
import type * as notifications from './tables/notifications.js';
import type * as operations from './tables/operations.js';
import type * as orgs from './tables/orgs.js';
import type * as outbox from './tables/outbox.js';
import type * as permissions from './tables/permissions.js';
import type * as pipelines from './tables/pipelines.js';
import type * as platforms from './tables/platforms.js';
import type * as preferences from './tables/preferences.js';
import type * as reader from './tables/reader.js';
import type * as recurring from './tables/recurringtasks.js';
import type * as research from './tables/research.js';
import type * as skills from './tables/skills.js';
import type { Insertable } from './tables/table.js';
import type * as tasks from './tables/tasks.js';
import type * as tunnel from './tables/tunnel.js';
import type * as vault from './tables/vault.js';
import type * as voice from './tables/voice.js';

type TableModules = typeof accounts &
  typeof agents &
  typeof audit &
  typeof backups &
  typeof channels &
  typeof documents &
  typeof experts &
  typeof folders &
  typeof hooks &
  typeof jobs &
  typeof knowledge &
  typeof mail &
  typeof memories &
  typeof models &
  typeof notifications &
  typeof operations &
  typeof orgs &
  typeof outbox &
  typeof permissions &
  typeof pipelines &
  typeof platforms &
  typeof preferences &
  typeof reader &
  typeof recurring &
  typeof research &
  typeof skills &
  typeof tasks &
  typeof tunnel &
  typeof vault &
  typeof voice;
type AnyTable = Extract<TableModules[keyof TableModules], { name: string; of: object }>;

export type Tables = { [T in AnyTable as T['name']]: Insertable<T['of']> };
