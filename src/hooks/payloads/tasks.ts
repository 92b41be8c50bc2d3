import { parseBody } from '../../kernel/json.js';
import { evaluationTasks } from '../evaluate.js';
import { readLargePayload } from '../inbound/payload.js';
import { verifyHookProofs } from '../inbound/proof.js';

export const payloadTasks = {
  ...evaluationTasks,
  parse: parseBody,
  read: readLargePayload,
  prove: verifyHookProofs,
};
