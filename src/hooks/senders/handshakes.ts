import { createHmac, type KeyObject } from 'node:crypto';
import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Http } from '../../kernel/http.js';
import { isRecord, parsedJson, textAt } from '../../kernel/jsonvalue.js';
import type { Log } from '../../kernel/log.js';
import type { HandshakeKind, SignatureRecipe } from './recipe.js';
import { isConfirmation, parseSnsMessage } from './sns.js';

export type HandshakeReply =
  | { verdict: 'handshake'; json: Record<string, unknown> }
  | { verdict: 'handshake'; text: string }
  | { verdict: 'handshake' }
  /** A handshake that would make the daemon sign chosen text. */
  | { verdict: 'bad_handshake' };

export interface VerifiedHandshake {
  recipe: SignatureRecipe;
  key: KeyObject | null;
  body: Buffer;
}

/** Zoom documents a random string. No signature of Zoom has this form. */
const ZOOM_TOKEN = /^[A-Za-z0-9_-]{1,100}$/;
/** Slack's challenge has about 50 characters. */
const MAX_CHALLENGE_LENGTH = 1000;
/** In bytes. */
const MAX_BYTES = 64 * 1024;
const DISCORD_PING = 0;

interface HandshakeDeps {
  http: Pick<Http, 'request'>;
  log: Log;
}

type AnswerHandshake = (
  deps: HandshakeDeps,
  handshake: VerifiedHandshake & { json: Record<string, unknown> },
) => HandshakeReply | null | Promise<HandshakeReply | null>;

/**
 * Null if the request is not a handshake. Answered only after verification, otherwise anybody could
 * let Zoom's handshake sign any text.
 */
export const answerHandshake = async (
  deps: HandshakeDeps,
  handshake: VerifiedHandshake,
): Promise<HandshakeReply | null> => {
  const kind = handshake.recipe.handshake;
  const answer = kind && ANSWERS[kind];
  if (!answer || handshake.body.length > MAX_BYTES) return null;
  const json = parsedJson(handshake.body.toString('utf8'));
  return isRecord(json) ? answer(deps, { ...handshake, json }) : null;
};

const ANSWERS: Partial<Record<HandshakeKind, AnswerHandshake>> = {
  /** Slack: url_verification event. */
  slack: (_, { json: { type, challenge } }) => {
    if (type !== 'url_verification' || typeof challenge !== 'string') return null;
    if (challenge.length > MAX_CHALLENGE_LENGTH) return { verdict: 'bad_handshake' };
    return { verdict: 'handshake', json: { challenge } };
  },
  /** Zoom: Validate your webhook endpoint. */
  zoom: (_, { json: { event, payload }, key }) => {
    if (event !== 'endpoint.url_validation') return null;
    const plainToken = textAt(payload, 'plainToken');
    if (!plainToken || !ZOOM_TOKEN.test(plainToken) || !key) return { verdict: 'bad_handshake' };
    const encryptedToken = createHmac('sha256', key).update(plainToken).digest('hex');
    return { verdict: 'handshake', json: { plainToken, encryptedToken } };
  },
  /** Discord: Webhook Events, acknowledging a PING. */
  discord: (_, { json: { type } }) => (type === DISCORD_PING ? { verdict: 'handshake' } : null),
  /** Amazon SNS: Parsing Amazon SNS message formats. */
  sns: async (deps, { recipe: { topicArn = '' }, body }) => {
    const { Type, SubscribeURL = '' } = parseSnsMessage([topicArn], body)?.fields ?? {};
    if (Type === undefined || Type === 'Notification') return null;
    if (Type === 'SubscriptionConfirmation') {
      const isTaken = await confirmTopic(deps, SubscribeURL, topicArn);
      if (!isTaken) return { verdict: 'bad_handshake' };
    }
    return { verdict: 'handshake', json: { received: true } };
  },
};

/** Confirms only the configured topic, at SNS itself. */
const confirmTopic = async (
  { http, log }: HandshakeDeps,
  url: string,
  topicArn: string,
): Promise<boolean> => {
  if (!isConfirmation(topicArn, url)) return false;
  try {
    const { status } = await http.request({ method: 'GET', url, redirects: 0 });
    log.info({ topicArn, status }, 'SNS subscription confirmed');
    return status === 200;
  } catch (error) {
    if (!(error instanceof HttpFailure || error instanceof EgressRefused)) throw error;
    log.warn({ topicArn, err: error }, 'failed to confirm an SNS subscription');
    return false;
  }
};
