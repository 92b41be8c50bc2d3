/** A page that the daemon serves to browsers: its files lie beside the code that they belong to. */
export interface WebPage {
  /** `/invite`; its stylesheet, the one of all pages, is `/invite/page.css`. */
  path: string;
  html(): URL;
  /** By name: `page.js` is `/invite/page.js`. */
  scripts: Record<string, () => URL>;
}
