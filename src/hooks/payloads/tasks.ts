import { parseBody } from '../../kernel/json.js';
import { evaluationTasks } from '../evaluate.js';
import { readLargePayload } from '../inbound/payload.js';
import { proofsOf } from '../inbound/proof.js';

/** Everything that a worker thread does with what strangers sent. */
export const payloadTasks = {
  ...evaluationTasks,
  parse: parseBody,
  read: readLargePayload,
  prove: proofsOf,
};
