import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { Log } from '../../kernel/log.js';
import { type AwaitedTokens, createAwaitedTokens } from './awaitedtokens.js';
import { createCertificates } from './certificates.js';
import { answerHandshake, type HandshakeReply } from './handshakes.js';
import type { Sender } from './open.js';
import { parseSnsMessage, type SnsProof, verifySnsMessage } from './sns.js';

/** Tokens of Microsoft Graph are shorter. */
const MAX_TOKEN_LENGTH = 1000;

interface CandidateRef {
  hook: { id: string; userId: string; sender: Sender | null } | null;
}

interface UnsignedRequest {
  query: Record<string, string>;
  body: Buffer;
}

interface SendersDeps {
  http: Pick<Http, 'request'>;
  clock: Clock;
  log: Log;
  publicUrl(): string | null;
}

export const createSenders = (deps: SendersDeps) => {
  const certificates = createCertificates(deps);
  const awaited: AwaitedTokens = createAwaitedTokens(deps.clock);

  return {
    awaited,
    addressOf: (url: string): string | null => {
      const origin = deps.publicUrl();
      return origin === null ? null : origin + url;
    },
    /** Null if the body is not a message of a topic of these hooks. */
    snsProof: (candidates: CandidateRef[], body: Buffer): Promise<SnsProof | null> | null => {
      const topics = candidates.flatMap(({ hook }) => hook?.sender?.recipe.topicArn ?? []);
      const message = parseSnsMessage(topics, body);
      if (!message) return null;
      return certificates
        .at(message.certificateUrl)
        .then((pem) => (pem === null ? null : verifySnsMessage(message, pem, deps.clock.now())));
    },
    /**
     * Answers the two unsigned handshakes: Microsoft Graph's token, which is returned, and Notion's
     * token, if a hook waits for it. Null if the request is neither, or if several owners are
     * possible.
     */
    unsigned: (
      candidates: CandidateRef[],
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
    /** Null if the request is a delivery. */
    answer: async (
      { hook: { sender }, key }: { hook: { sender: Sender | null }; key: KeyObject | null },
      body: Buffer,
    ): Promise<HandshakeReply | null> =>
      sender ? answerHandshake(deps, { recipe: sender.recipe, key, body }) : null,
  };
};

export type Senders = ReturnType<typeof createSenders>;

const isMeantFor = (candidates: CandidateRef[], handshake: 'graph' | 'notion'): boolean =>
  candidates.some(({ hook }) => hook?.sender?.recipe.handshake === handshake);
