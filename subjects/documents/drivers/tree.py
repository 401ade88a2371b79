import sys, yaml
print(len(yaml.safe_load(open(sys.argv[1]))))
