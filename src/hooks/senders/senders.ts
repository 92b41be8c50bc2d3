import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { Log } from '../../kernel/log.js';
import { type AwaitedTokens, createAwaitedTokens } from './awaitedtokens.js';
import { createCertificates } from './certificates.js';
import { answerHandshake, type HandshakeReply } from './handshakes.js';
import type { Sender } from './open.js';
import { type SnsProof, snsMessageOf, snsProofOf } from './sns.js';

/** Ours: Microsoft Graph's tokens are shorter. */
const MAX_TOKEN_LENGTH = 1000;

/** A hook that may have been meant by a request. */
interface MeantHook {
  hook: { id: string; userId: string; sender: Sender | null } | null;
}

/** The parts of a request by which it may be a handshake without a signature. */
interface UnsignedRequest {
  query: Record<string, string>;
  body: Buffer;
}

interface SendersDeps {
  http: Pick<Http, 'request'>;
  clock: Clock;
  log: Log;
  /** The address at which senders reach the daemon; null without one. */
  publicUrl(): string | null;
}

/** Creates what the senders of hooks need beside their signatures: handshakes and certificates. */
export const createSenders = (deps: SendersDeps) => {
  const certificates = createCertificates(deps);
  const awaited: AwaitedTokens = createAwaitedTokens(deps.clock);

  return {
    awaited,
    /** Returns the public address of a path and query; null if the daemon has none. */
    addressOf: (url: string): string | null => {
      const origin = deps.publicUrl();
      return origin === null ? null : origin + url;
    },
    /** Verifies a message of SNS, of the topic of one of the hooks; null if the body is none. */
    snsProof: (candidates: MeantHook[], body: Buffer): Promise<SnsProof | null> | null => {
      const topics = candidates.flatMap(({ hook }) => hook?.sender?.recipe.topicArn ?? []);
      const message = snsMessageOf(topics, body);
      if (!message) return null;
      return certificates
        .at(message.certificateUrl)
        .then((pem) => (pem === null ? null : snsProofOf(message, pem, deps.clock.now())));
    },
    /**
     * Answers the two handshakes that come unsigned: the token that Microsoft Graph wants to see
     * again, and the one that Notion sends, while its owner awaits it. Null: the request is neither,
     * or nothing says for which of several owners it is.
     */
    unsigned: (
      candidates: MeantHook[],
      { query, body }: UnsignedRequest,
    ): HandshakeReply | null => {
      if (new Set(candidates.map(({ hook }) => hook?.userId)).size > 1) return null;
      const { validationToken } = query;
      if (validationToken !== undefined && isMeantFor(candidates, 'graph')) {
        return validationToken.length > MAX_TOKEN_LENGTH
          ? { verdict: 'bad_handshake' }
          : { verdict: 'handshake', text: validationToken };
      }
      if (!isMeantFor(candidates, 'notion')) return null;
      const taken = candidates.filter(({ hook }) => hook && awaited.take(hook.id, body));
      return taken.length > 0 ? { verdict: 'handshake', json: { received: true } } : null;
    },
    /** Answers the handshake of a request that was verified. Null: it is a delivery. */
    answer: async (
      { hook: { sender }, key }: { hook: { sender: Sender | null }; key: KeyObject | null },
      body: Buffer,
    ): Promise<HandshakeReply | null> =>
      sender ? answerHandshake(deps, { recipe: sender.recipe, key, body }) : null,
  };
};

export type Senders = ReturnType<typeof createSenders>;

const isMeantFor = (candidates: MeantHook[], handshake: 'graph' | 'notion'): boolean =>
  candidates.some(({ hook }) => hook?.sender?.recipe.handshake === handshake);
