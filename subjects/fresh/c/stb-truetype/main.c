/* draws a few letters of a font */
#include "../../../c/slurp.h"
#include <math.h>
#define STB_TRUETYPE_IMPLEMENTATION
#include "imstb_truetype.h"
int main(int argc,char**argv){ size_t n; if(argc<2) return 2; char*b=slurp(argv[1],&n); stbtt_fontinfo f;
  int o=stbtt_GetFontOffsetForIndex((unsigned char*)b,0); if(o<0||!stbtt_InitFont(&f,(unsigned char*)b,o)){ puts("no font"); return 1; }
  float s=stbtt_ScaleForPixelHeight(&f,20); long sum=0; const int text[]={'a','n','d','s',0xe4,'o','0',' '};
  for(int i=0;i<8;i++){ int w,h,x,y; unsigned char*p=stbtt_GetCodepointBitmap(&f,0,s,text[i],&w,&h,&x,&y); if(p){ for(int k=0;k<w*h;k++) sum+=p[k]; } stbtt_FreeBitmap(p,0);
    if(i) sum+=stbtt_GetCodepointKernAdvance(&f,text[i-1],text[i]); }
  printf("ok %ld\n",sum); free(b); return 0; }
