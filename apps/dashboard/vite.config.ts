import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { build, defineConfig } from 'vite';
import type { Plugin } from 'vite';

/** The two Latin fonts are asked for with the page, not once the styles have come: text does not jump. */
const preloadFonts: Plugin = {
  name: 'preload-fonts',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle }) =>
      Object.keys(bundle ?? {})
        .filter((file) => /-latin-wght-normal[^/]*\.woff2$/.test(file))
        .map((file) => ({
          tag: 'link',
          attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${file}`, crossorigin: '' },
          injectTo: 'head',
        })),
  },
};

/** The script that pages of others load: one plain file, by a name that stays. */
const widget: Plugin = {
  name: 'widget',
  async generateBundle() {
    const entry = fileURLToPath(new URL('src/widget/widget.ts', import.meta.url));
    const lib = { entry, formats: ['iife' as const], name: 'TroupeWidget' };
    const built = await build({
      configFile: false,
      publicDir: false,
      logLevel: 'warn',
      build: { write: false, target: 'es2022', minify: true, reportCompressedSize: false, lib },
    });
    const [output] = [built].flat();
    if (output === undefined || !('output' in output)) throw new Error('the widget was not built');
    this.emitFile({ type: 'asset', fileName: 'widget.js', source: output.output[0].code });
  },
};

export default defineConfig({
  plugins: [preloadFonts, widget, react(), tailwindcss()],
  build: { target: 'es2023', reportCompressedSize: false, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
});
