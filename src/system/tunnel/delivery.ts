import { randomUUID } from 'node:crypto';
import type { ProbeArrival } from '../../hooks/receivers/routes.js';
import { githubSignature } from '../../kernel/signature.js';
import { HELD_MS } from './probes.js';
import { askThroughTunnel } from './question.js';
import { nonceIn, sayAnswer } from './reach.js';
import { remedies } from './remedies.js';
import { receiverAt, StageFailed, type StepInput, type StepOutcome } from './step.js';

/**
 * A JSON body in unusual form, so that a proxy that parses and rewrites it, changes its encoding or
 * trims it is noticed. 40 KiB, so that it comes in several chunks.
 */
const BODY = Buffer.from(
  `{ "n":1.0,"e":1E2 ,\r\n"text" : "\\u00e9 é 漢 🦉 \\/",\t"again":1,"again":2,"long":"${'0123456789 '.repeat(3600)}" }\n`,
);

/** Checks that the daemon itself refuses a delivery without a signature. */
export const refuseUnsigned = async (asking: StepInput): Promise<StepOutcome> => {
  const url = receiverAt(asking, asking.probe.signed);
  const headers = { 'content-type': 'application/json', 'x-github-event': 'ping' };
  const answer = await askThroughTunnel(asking, { method: 'POST', url, headers, body: BODY });
  if (answer.status === 401) return { detail: 'refused with 401', latencyMs: answer.latencyMs };
  throw new StageFailed(
    `a delivery without a signature was answered with ${sayAnswer(answer)}`,
    'something in front answers in our place',
    remedies.untouched(asking),
  );
};

/**
 * Checks that a signed delivery arrives byte for byte with its headers, and that its reply may take
 * a while.
 */
export const deliverSigned = async (asking: StepInput): Promise<StepOutcome> => {
  const { probe } = asking;
  probe.forget();
  const sent = {
    'Content-Type': 'application/json',
    'X-GitHub-Delivery': randomUUID(),
    'X-GitHub-Event': 'ping',
    'X-Hub-Signature-256': githubSignature(probe.key, BODY),
  };
  const url = receiverAt(asking, probe.signed);
  const answer = await askThroughTunnel(asking, { method: 'POST', url, headers: sent, body: BODY });
  compare(asking, sent, sayAnswer(answer));
  if (nonceIn(answer) !== probe.nonce) {
    throw new StageFailed(
      `it arrived as it was sent, and its answer came back as ${sayAnswer(answer)}`,
      'something in front answers in our place',
      remedies.untouched(asking),
    );
  }
  const detail = 'body and headers byte for byte, and a slow answer came through';
  return { detail, latencyMs: Math.max(0, answer.latencyMs - HELD_MS) };
};

/** Compares what arrived with what was sent. Throws StageFailed if they differ. */
const compare = (asking: StepInput, sent: Record<string, string>, answered: string): void => {
  const arrived = asking.probe.arrivedOn(asking.probe.signed);
  const names = Object.keys(sent);
  const lacking = names.filter((name) => arrived?.headers[name.toLowerCase()] !== sent[name]);
  const { seen, cause } = differenceOf(arrived, { names, lacking }) ?? {};
  if (seen === undefined || cause === undefined) return;
  throw new StageFailed(arrived ? seen : `${seen}: ${answered}`, cause, remedies.untouched(asking));
};

const differenceOf = (
  arrived: ProbeArrival | null,
  { names, lacking }: { names: string[]; lacking: string[] },
): { seen: string; cause: string } | null => {
  if (!arrived) return { seen: 'it did not arrive', cause: 'what is in front keeps it' };
  const change = changeOf(arrived.body);
  if (lacking.length === 0) {
    const cause = 'something in front writes bodies anew';
    return change === null ? null : { seen: change, cause };
  }
  const count = `${names.length - lacking.length} of ${names.length} headers`;
  const seen = `arrived without ${lacking.join(', ')}; ${change ?? 'the body arrived whole'}, ${count}`;
  return { seen, cause: 'a rule in front removes or changes headers' };
};

/**
 * Describes the first difference between the body that arrived and the one that was sent; null if
 * there is none.
 */
const changeOf = (arrived: Buffer): string | null => {
  if (arrived.equals(BODY)) return null;
  const at = BODY.findIndex((byte, index) => arrived[index] !== byte);
  const place = at < 0 ? BODY.length : at;
  return `the body arrived changed: ${BODY.length} bytes sent, ${arrived.length} came, they differ from byte ${place}`;
};
