import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { Operation, operationStatus } from '../kernel/contract/operation.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const operations = contract({
  list: endpoint.get('/api/operations', {
    summary: 'List your long pieces of work, newest first',
    query: pageQuery('OperationQuery', {
      kind: s.optional(s.text(100)),
      status: s.optional(operationStatus()),
      resource: s.optional(
        s
          .text(300)
          .pattern(/^[a-z_]+:.+$/, '<kind>:<id>')
          .description('What it is about, as <kind>:<id>'),
      ),
    }),
    reply: pageOf('operations', Operation),
  }),
  get: endpoint.get('/api/operations/{id}', {
    summary: 'How far an operation is',
    query: s.object('OperationWait', {
      wait: s.optional(
        s.queryWhole(0, 25).description('Seconds to wait for its next change or its end'),
      ),
    }),
    reply: Operation,
  }),
  cancel: endpoint.post('/api/operations/{id}/cancel', {
    summary: 'End an operation; what it has done stays done',
    reply: Operation,
  }),
});
