import { randomUUID } from 'node:crypto';
import type { ProbeArrival } from '../../hooks/module.js';
import type { Incoming } from '../../kernel/http.js';
import { githubSignature } from '../../kernel/signature.js';
import { HELD_MS } from './probes.js';
import { deliverThroughTunnel, describeReply } from './request.js';
import { intercepted, remedies, StageFailed, type StageInput, type StageOutcome } from './stage.js';

/**
 * A JSON body in unusual form, so that a proxy that parses and rewrites it, changes its encoding or
 * trims it is noticed. 40 KiB, so that it comes in several chunks.
 */
const BODY = Buffer.from(
  `{ "n":1.0,"e":1E2 ,\r\n"text" : "\\u00e9 é 漢 🦉 \\/",\t"again":1,"again":2,"long":"${'0123456789 '.repeat(3600)}" }\n`,
);

/** Checks that this daemon itself replies: the nonce of this check comes back. */
export const checkReach = async (input: StageInput): Promise<StageOutcome> => {
  const { probe } = input;
  const reply = await deliverThroughTunnel(input, probe.open);
  if (nonceIn(reply) === probe.nonce) {
    return { detail: 'the nonce came back from this daemon', latencyMs: reply.latencyMs };
  }
  const seen = describeReply(reply);
  if (probe.arrivedOn(probe.open) === null) {
    throw new StageFailed({ seen, ...explainMiss(input, reply) });
  }
  throw intercepted(input, `the probe arrived, and its answer came back as ${seen}`);
};

/** Checks that the daemon itself refuses a delivery without a signature. */
export const checkUnsigned = async (input: StageInput): Promise<StageOutcome> => {
  const headers = { 'X-GitHub-Event': 'ping' };
  const reply = await deliverThroughTunnel(input, input.probe.signed, { headers, body: BODY });
  if (reply.status === 401) return { detail: 'refused with 401', latencyMs: reply.latencyMs };
  const seen = `a delivery without a signature was answered with ${describeReply(reply)}`;
  throw intercepted(input, seen);
};

/**
 * Checks that a signed delivery arrives byte for byte with its headers, and that its reply may take
 * a while.
 */
export const checkSigned = async (input: StageInput): Promise<StageOutcome> => {
  const { probe } = input;
  probe.forget();
  const headers = {
    'Content-Type': 'application/json',
    'X-GitHub-Delivery': randomUUID(),
    'X-GitHub-Event': 'ping',
    'X-Hub-Signature-256': githubSignature(probe.key, BODY),
  };
  const reply = await deliverThroughTunnel(input, probe.signed, { headers, body: BODY });
  const seen = describeReply(reply);
  const arrived = probe.arrivedOn(probe.signed);
  const fault = arrived
    ? differenceOf(arrived, headers)
    : { seen: `it did not arrive: ${seen}`, cause: 'what is in front keeps it' };
  if (fault) throw new StageFailed({ ...fault, remedy: remedies.untouched(input) });
  if (nonceIn(reply) !== probe.nonce) {
    throw intercepted(input, `it arrived as it was sent, and its answer came back as ${seen}`);
  }
  const detail = 'body and headers byte for byte, and a slow answer came through';
  return { detail, latencyMs: Math.max(0, reply.latencyMs - HELD_MS) };
};

/** Returns the nonce in the reply to a probe; null if something else replied. */
const nonceIn = ({ body }: Incoming): string | null =>
  /"deliveryId":"probe_([\w-]+)"/.exec(body.toString())?.[1] ?? null;

/** Explains, by the reply, why a request never reached the daemon. */
const explainMiss = (input: StageInput, { status, headers }: Incoming) => {
  const remedy = remedies.way(input);
  if (status >= 300 && status < 400) {
    const to = headers.location?.slice(0, 200);
    return { cause: `it redirects to ${to}, and senders do not follow`, remedy };
  }
  if (status === 401 || status === 403 || status === 407) {
    const cause = 'something in front wants a login or a filter refuses';
    return { cause, remedy: remedies.login };
  }
  if (status >= 500) {
    return { cause: `what is in front got no answer from ${input.upstream}`, remedy };
  }
  if (status === 404) return { cause: 'the path is not passed on to this daemon', remedy };
  return { cause: 'another server answers under this name', remedy };
};

/** Describes what differs between the delivery that arrived and the one that was sent. */
const differenceOf = (
  { headers, body }: ProbeArrival,
  sent: Record<string, string>,
): { seen: string; cause: string } | null => {
  const change = changeOf(body);
  const names = Object.keys(sent);
  const lacking = names.filter((name) => headers[name.toLowerCase()] !== sent[name]);
  if (lacking.length === 0) {
    return change === null
      ? null
      : { seen: change, cause: 'something in front writes bodies anew' };
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
