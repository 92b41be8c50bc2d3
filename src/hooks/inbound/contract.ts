import * as s from '../../kernel/contract/schema.js';

/** The longest message: a public address and the path of a hook stand in it. */
const MAX_MESSAGE = 1000;

/** The deliveries of which nothing was kept, as the owner of their hook may see them. */
export const RefusedDeliveries = s.object('RefusedDeliveries', {
  since: s.time().description('The start of the daemon, which forgets those before it'),
  count: s.whole(0, Number.MAX_SAFE_INTEGER),
  refused: s.list(
    s.object('RefusedDelivery', {
      at: s.time(),
      reason: s.oneOf(
        'RefusedFor',
        ...(['no_secret', 'unsigned', 'not_now', 'mismatch', 'address', 'content_type'] as const),
        ...(['content_encoding', 'empty', 'charset', 'not_json', 'form'] as const),
        ...(['secret_in_query', 'handshake', 'backlog', 'disabled', 'tried'] as const),
      ),
      message: s.text(MAX_MESSAGE),
      contentType: s.nullable(s.anyText(100)),
      headers: s.list(s.text(100), 10).description('Those that a signature or time may stand in'),
    }),
    20,
  ),
});
export type RefusedDeliveries = s.Static<typeof RefusedDeliveries>;
export type RefusedDelivery = RefusedDeliveries['refused'][number];
