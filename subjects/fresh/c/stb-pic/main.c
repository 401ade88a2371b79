/* loads a picture and prints its size */
#include "../../../c/slurp.h"
const char *stbi_failure_reason(void);
unsigned char *stbi_load_from_memory(unsigned char const*,int,int*,int*,int*,int);
int main(int argc,char**argv){ size_t n; int w,h,c; if(argc<2) return 2; char*b=slurp(argv[1],&n);
  unsigned char*p=stbi_load_from_memory((unsigned char*)b,(int)n,&w,&h,&c,4); if(p) printf("%d x %d x %d\n",w,h,c); else puts(stbi_failure_reason()); free(p); free(b); return 0; }
