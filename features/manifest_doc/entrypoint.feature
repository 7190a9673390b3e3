Feature: The entry point of a manifest
  How the extension is started: a command, its arguments and its environment.

  @0.1 @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-ENTRY-001
    Examples:
      | what        |
      | the command |

    @MAN-ENTRY-002
    Examples:
      | what          |
      | the arguments |

    @MAN-ENTRY-003
    Examples:
      | what            |
      | the environment |

    @MAN-ENTRY-004
    Examples:
      | what                         |
      | the names in the environment |

    @MAN-ENTRY-005
    Examples:
      | what                          |
      | the values in the environment |

    @MAN-ENTRY-007
    Examples:
      | what                          |
      | a command beside the manifest |

    @MAN-ENTRY-008
    Examples:
      | what                            |
      | a command with an absolute path |
