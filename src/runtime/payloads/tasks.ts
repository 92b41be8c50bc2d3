import { parseBody } from '../../kernel/json.js';
import { evaluationTasks } from '../hooks/evaluate.js';
import { readLargePayload } from '../inbox/payload.js';
import { proofsOf } from '../inbox/proof.js';

/** Everything that a worker thread does with what strangers sent. */
export const payloadTasks = {
  ...evaluationTasks,
  parse: parseBody,
  read: readLargePayload,
  prove: proofsOf,
};
