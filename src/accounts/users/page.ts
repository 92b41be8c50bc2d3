import type { WebPage } from '../../kernel/webpage.js';

const own = (name: string): URL => new URL(`./page/${name}`, import.meta.url);
const scripts = { 'page.js': () => own('page.js') };

export const invitePage: WebPage = { path: '/invite', html: () => own('invite.html'), scripts };
export const resetPage: WebPage = { path: '/reset', html: () => own('reset.html'), scripts };
