// Extensions of text files for which the service has no type of their own: they are sent as text/plain.

const documents = `txt text md markdown mdown rst adoc asciidoc org tex bib sty cls log srt vtt sub ics vcf vcard
  tsv tab psv jsonl ndjson json5 jsonc rtf wiki textile nfo readme me diff patch rej po pot`

const markup = 'html htm shtml css scss sass less styl vue svelte astro hbs ejs pug liquid njk twig mustache'

const configuration = `ini conf cfg cnf config properties env toml yaml yml editorconfig gitignore gitattributes
  gitmodules dockerignore npmrc htaccess service timer socket target rules desktop reg inf nix hcl tf tfvars
  cmake gradle sbt mk make gn bazel bzl ninja`

const sourceCode = `c h cc cpp cxx hh hpp hxx m mm cs java kt kts scala groovy clj cljs edn go rs swift dart zig v d
  js mjs cjs jsx ts mts cts tsx coffee py pyi pyx rb erb php pl pm t lua r jl m4 hs lhs elm ml mli fs fsi fsx ex exs erl
  hrl lisp cl el scm rkt pas pp ada adb ads f f77 f90 f95 for cob cbl vb vbs bas asm s sh bash zsh fish ksh csh awk sed
  bat cmd ps1 psm1 psd1 sql ddl dml psql graphql gql proto thrift avsc sol vhd vhdl sv tcl y l g4 ipp inl def glsl hlsl
  vert frag wgsl cu cuh`

/** All of them, in lower case, without the dot. */
export const textExtensions: readonly string[] = [documents, markup, configuration, sourceCode]
  .join(' ')
  .split(/\s+/)
