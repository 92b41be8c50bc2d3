import { createFairQueue, QueueFull } from '../../kernel/fairqueue.js';
import { PoolFull } from '../../kernel/pool.js';
import { inThread } from '../../kernel/threadtask.js';
import {
  refuseByText,
  type SamlAssertion,
  SamlRefused,
  type Verification,
  verifyXml,
} from './saml.js';

export interface ResponseInput {
  xml: string;
  verification: Verification;
}
export type ResponseResult =
  | { assertion: SamlAssertion }
  | { refused: [code: string, message: string, nameId: string | null] };

/** Verified on the event loop, in a few milliseconds. Usual responses have 30 to 100 elements. */
const MAX_INLINE_TAGS = 400;
const threads = createFairQueue({ atOnce: 1, waiting: 50 });
/** The largest response takes about two seconds. */
const LIMIT_MS = 30_000;
const FILE = new URL('./verifythread.js', import.meta.url);

/** Large responses are verified in a thread. Throws `SamlRefused`, and `PoolFull` if too many wait. */
export const verifyResponse = async (
  xml: string,
  verification: Verification,
): Promise<SamlAssertion> => {
  refuseByText(xml);
  if (xml.split('<', MAX_INLINE_TAGS).length < MAX_INLINE_TAGS) return verifyXml(xml, verification);
  const input: ResponseInput = { xml, verification };
  const failure = 'Could not verify a SAML response';
  const reply = await threads
    .take(verification.sp.entityId, () =>
      inThread<ResponseResult>({ file: FILE, input, limitMs: LIMIT_MS, failure }),
    )
    .catch((error) => {
      throw error instanceof QueueFull ? new PoolFull() : error;
    });
  if ('assertion' in reply) return reply.assertion;
  throw new SamlRefused(...reply.refused);
};
