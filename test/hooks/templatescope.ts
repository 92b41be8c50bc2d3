import type { TemplateScope } from '../../src/hooks/template.js';

const body = JSON.parse(
  `{"title":"It \\"works\\"","n":7,"zero":0,"none":null,"yes":false,"list":["a",{"b":"c"}],
    "loop":"{{webhook.body.title}} {{hook.name}}","__proto__":{"own":"really"},
    "Case":"upper","a.b":"dotted","lines":"one\\ntwo"}`,
);
export const scope: TemplateScope = {
  webhook: {
    body,
    headers: { 'x-request-source': 'forge' },
    path: 'issues',
    method: 'POST',
  },
  event: 'push',
  hook: { name: 'my hook' },
};
