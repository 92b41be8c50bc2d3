import type { WebPage } from '../../kernel/webpage.js';

const own = (name: string): URL => new URL(`./page/${name}`, import.meta.url);

export const ssoPage: WebPage = {
  path: '/sso',
  html: () => own('page.html'),
  scripts: { 'page.js': () => own('page.js') },
};
