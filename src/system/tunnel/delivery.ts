import { randomUUID } from 'node:crypto';
import type { ProbeArrival } from '../../hooks/module.js';
import type { Incoming } from '../../kernel/http.js';
import { githubSignature } from '../../kernel/signature.js';
import { HELD_MS } from './probes.js';
import { deliverThroughTunnel, describeReply } from './request.js';
import { intercepted, remedies, StageFailed, type StageInput, type StageOutcome } from './stage.js';

/**
 * JSON in an unusual form, to detect a proxy that parses, re-encodes or trims bodies. 40 KiB, so that it
 * arrives in several chunks.
 */
const BODY = Buffer.from(
  `{ "n":1.0,"e":1E2 ,\r\n"text" : "\\u00e9 é 漢 🦉 \\/",\t"again":1,"again":2,"long":"${'0123456789 '.repeat(3600)}" }\n`,
);

export const checkReach = async (input: StageInput): Promise<StageOutcome> => {
  const { probe } = input;
  const reply = await deliverThroughTunnel(input, probe.open);
  if (nonceIn(reply) === probe.nonce) {
    return { detail: 'this daemon replied with the nonce', latencyMs: reply.latencyMs };
  }
  const seen = describeReply(reply);
  if (probe.arrivedOn(probe.open) === null) {
    throw new StageFailed({ seen, ...explainMiss(input, reply) });
  }
  throw intercepted(input, `the request arrived, but the reply was ${seen}`);
};

export const checkUnsigned = async (input: StageInput): Promise<StageOutcome> => {
  const headers = { 'X-GitHub-Event': 'ping' };
  const reply = await deliverThroughTunnel(input, input.probe.signed, { headers, body: BODY });
  if (reply.status === 401) return { detail: 'refused with 401', latencyMs: reply.latencyMs };
  const seen = `the reply to a delivery without a signature was ${describeReply(reply)}`;
  throw intercepted(input, seen);
};

/** Checks that a signed delivery arrives unchanged, and that a slow reply comes through. */
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
    ? findProbeDifference(arrived, headers)
    : { seen: `the delivery did not arrive: ${seen}`, cause: 'the proxy or tunnel holds it back' };
  if (fault) throw new StageFailed({ ...fault, remedy: remedies.untouched(input) });
  if (nonceIn(reply) !== probe.nonce) {
    throw intercepted(input, `the delivery arrived unchanged, but the reply was ${seen}`);
  }
  const detail = 'body and headers arrive unchanged, and a slow reply comes through';
  return { detail, latencyMs: Math.max(0, reply.latencyMs - HELD_MS) };
};

/** Null if something else replied. */
const nonceIn = ({ body }: Incoming): string | null =>
  /"deliveryId":"probe_([\w-]+)"/.exec(body.toString())?.[1] ?? null;

const explainMiss = (input: StageInput, { status, headers }: Incoming) => {
  const remedy = remedies.way(input);
  if (status >= 300 && status < 400) {
    const to = headers.location?.slice(0, 200);
    return { cause: `the address redirects to ${to}, and senders do not follow redirects`, remedy };
  }
  if (status === 401 || status === 403 || status === 407) {
    const cause = 'a proxy requires a login, or a filter refuses the request';
    return { cause, remedy: remedies.login };
  }
  if (status >= 500) {
    return { cause: `the proxy or tunnel got no reply from ${input.upstream}`, remedy };
  }
  if (status === 404) return { cause: 'the path is not forwarded to this daemon', remedy };
  return { cause: 'another server replies under this name', remedy };
};

const findProbeDifference = (
  { headers, body }: ProbeArrival,
  sent: Record<string, string>,
): { seen: string; cause: string } | null => {
  const change = findBodyChange(body);
  const names = Object.keys(sent);
  const lacking = names.filter((name) => headers[name.toLowerCase()] !== sent[name]);
  if (lacking.length === 0) {
    return change === null ? null : { seen: change, cause: 'a proxy rewrites bodies' };
  }
  const count = `${names.length - lacking.length} of ${names.length} headers`;
  const seen = `arrived without ${lacking.join(', ')}; ${change ?? 'the body arrived unchanged'}, ${count}`;
  return { seen, cause: 'a rule of a proxy removes or changes headers' };
};

/** Null if the body arrived unchanged. */
const findBodyChange = (arrived: Buffer): string | null => {
  if (arrived.equals(BODY)) return null;
  const at = BODY.findIndex((byte, index) => arrived[index] !== byte);
  const place = at < 0 ? BODY.length : at;
  return `the body was changed: ${BODY.length} bytes sent, ${arrived.length} received, first difference at byte ${place}`;
};
