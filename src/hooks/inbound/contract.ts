import * as s from '../../kernel/contract/schema.js';

const MAX_MESSAGE = 1000;

export const RefusedDeliveries = s.object('RefusedDeliveries', {
  since: s.time().description('Start of the daemon. Earlier rejections are not kept'),
  count: s
    .integer(0, Number.MAX_SAFE_INTEGER)
    .description('Number of rejected deliveries since `since`. The list contains the newest 20'),
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
      contentType: s
        .nullable(s.anyText(100))
        .description('Content type of the request. `null` if the request has none'),
      headers: s
        .list(s.text(100), 10)
        .description('Names of headers that may carry the signature or timestamp'),
    }),
    20,
  ),
});
export type RefusedDeliveries = s.Static<typeof RefusedDeliveries>;
export type RefusedDelivery = RefusedDeliveries['refused'][number];
