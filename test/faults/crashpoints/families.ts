import { agentCrashes } from './agents.js';
import { backupCrashes } from './backup.js';
import type { Family } from './crashpoints.js';
import { documentCrashes } from './documents.js';
import { knowledgeCrashes } from './knowledge.js';
import { operationCrashes } from './operations.js';
import { messageCrashes } from './outbox.js';
import { pipelineCrashes } from './pipelines.js';
import { readerCrashes } from './reader.js';
import { recurringCrashes } from './recurring.js';
import { rekeyCrashes } from './rekey.js';
import { replayCrashes } from './replays.js';
import { researchCrashes } from './research.js';
import { deliveryCrashes } from './webhooks.js';

export const families: Family[] = [
  agentCrashes,
  backupCrashes,
  documentCrashes,
  knowledgeCrashes,
  operationCrashes,
  messageCrashes,
  pipelineCrashes,
  readerCrashes,
  recurringCrashes,
  rekeyCrashes,
  replayCrashes,
  researchCrashes,
  deliveryCrashes,
];
