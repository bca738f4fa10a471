import { defineConfig } from 'vite';

// Two pages, one build; the gateway serves dist/ as it is. Nothing is loaded from elsewhere: a lab may have no internet.
export default defineConfig({
  base: '/',
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    chunkSizeWarningLimit: 1200,
    rollupOptions: { input: { index: 'index.html', vr: 'vr.html' } },
  },
});
